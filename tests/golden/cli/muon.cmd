# In matrices: 32 x (4 x 4096^2 + 3 x 4096 x 11008) = 6,476,005,376 parameters; others 262,410,240. States:
# (6,476,005,376 x 8 + 262,410,240 x 12) / 16 = 3.43e9 bytes = 3.2 GiB. Newton-Schulz: of query, key, value and
# result 5 x 6 x 4096^3 = 2.06e12 operations each, of gate and up together (4096 x 22016) 5 x (4 x 4096^2 x
# 22016 + 2 x 4096^3) = 8.07e12, of down 4.38e12: 32 layers x 2.07e13 / 16 replicas = 4.14e13 operations, 56 ms at
# the 740 TFLOP/s that such products reach on this device, and 38 bytes a parameter at 2.73 TB/s are 6 ms.
nestc compile megatron_muon.nest --emit=summary
nestc explain megatron_muon.nest | sed -n '/^Stage/,/^$/p'
nestc compile megatron_muon.nest --emit=megatron | grep -E 'needs|--(optimizer|muon|use-dist|overlap)'
nestc compile megatron_muon.nest --emit=solver-input
nestc compile megatron_muon_distributed.nest --emit=megatron | grep -E -- '--(tensor-model|muon)'
nestc compile megatron_muon_distributed.nest | grep 'optimizer step'
