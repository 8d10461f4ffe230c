nestc compile megatron_muon.nest --emit=summary
nestc explain megatron_muon.nest | sed -n '/^Stage/,/^$/p'
nestc compile megatron_muon.nest --emit=megatron | grep -E 'needs|--(optimizer|muon|use-dist|overlap)'
nestc compile megatron_muon.nest --emit=solver-input
