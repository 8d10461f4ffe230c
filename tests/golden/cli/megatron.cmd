nestc compile megatron_uneven.nest --emit=megatron
nestc compile megatron_virtual.nest --emit=megatron
nestc compile megatron_copied_heads.nest --emit=megatron
nestc compile megatron_idle.nest --emit=megatron
nestc compile megatron_refused_model.nest --emit=megatron
nestc compile megatron_modules.nest --emit=megatron
nestc compile megatron_prediction.nest --emit=megatron | grep -E 'needs|--(mtp|pipeline)'
