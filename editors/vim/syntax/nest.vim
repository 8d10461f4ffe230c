" Vim syntax file
" Language: nest, specs of the training of large models
" Made by editors/generate.sh from the tables of nestc; not changed by hand.
" SPDX-License-Identifier: MIT

if exists('b:current_syntax')
  finish
endif

syntax case match
syntax iskeyword @,48-57,_

syntax keyword nestKeyword and as avoid by else expect extern fn for if import in let minimize nest not or param prefer require return split step then weight when with within
syntax keyword nestBoolean true false
syntax keyword nestSymbol adafactor adam adam_8bit alltoall bf16 blockwise core_attn deepep distributed duplicated fp16 fp32 fp8 full gelu gpipe interleaved layernorm megatron mla_up_proj mlp moe moe_act muon none off on one_f_one_b relu ring rmsnorm selective sgd sgd_momentum shared_experts silu switch torus
syntax keyword nestVariable bubble context cost data devices energy expert expert_tensor memory micro_batch micro_batches pipeline recompute recompute_layers schedule sequence shard_level stage stages tensor time virtual zero
syntax keyword nestType contained bandwidth bool energy float flops int money power price ratio size string time work
syntax match nestOpener /\<\%(device\|job\|level\|link\|model\|node\|plan\|switch\|template\|test\|topology\)\>\ze\s\+\h\w*\_s*[({]/
syntax match nestBlock /\<\%(children\|layers\|peak\|place\|plan\|require\|search\)\>\ze\%(\s\+\h\w*\)\?\s*{/
syntax match nestOperator /\<\%(attention\|auxiliary_loss\|cross_entropy\|custom\|dropout\|embedding\|experts\|gelu\|layernorm\|linear\|lm_head\|relu\|rmsnorm\|router\|silu\)\>\ze(/
syntax match nestFunction /\<\%(abs\|ceil\|count\|floor\|log2\|max\|min\|round\|sqrt\|sum\)\>\ze(/
syntax match nestField /\<\h\w*\ze\s*=[^=]/
syntax match nestType /:\s*\zs\%(bandwidth\|bool\|energy\|float\|flops\|int\|money\|power\|price\|ratio\|size\|string\|time\|work\)\>/
syntax match nestNumber /\<\d[0-9_]*\%(\.\d[0-9_]*\)\?\%([eE][+-]\?\d\+\)\?\%( \?\%(EFLOP\|GFLOP\|MFLOP\|PFLOP\|TFLOP\|ZFLOP\|kFLOP\|FLOP\|GiB\|KiB\|MWh\|MiB\|PiB\|TiB\|kWh\|min\|GB\|Gb\|MB\|MJ\|MW\|Mb\|PB\|Pb\|TB\|Tb\|kB\|kJ\|kW\|kb\|ms\|ns\|us\|$\|%\|B\|J\|W\|b\|d\|h\|s\)\%(\/\%(EFLOP\|GFLOP\|MFLOP\|PFLOP\|TFLOP\|ZFLOP\|kFLOP\|FLOP\|GiB\|KiB\|MWh\|MiB\|PiB\|TiB\|kWh\|min\|GB\|Gb\|MB\|MJ\|MW\|Mb\|PB\|Pb\|TB\|Tb\|kB\|kJ\|kW\|kb\|ms\|ns\|us\|$\|%\|B\|J\|W\|b\|d\|h\|s\)\)\?\>\|%\)\?/
syntax region nestString start=/"/ skip=/\\./ end=/"/ oneline
syntax match nestComment /#.*/ contains=nestTodo
syntax match nestDocumentation /##.*/ contains=nestTodo
syntax keyword nestTodo contained TODO FIXME XXX assumed Deprecated

highlight default link nestKeyword Keyword
highlight default link nestBoolean Boolean
highlight default link nestSymbol Constant
highlight default link nestVariable Identifier
highlight default link nestType Type
highlight default link nestOpener Structure
highlight default link nestBlock Structure
highlight default link nestOperator Function
highlight default link nestFunction Function
highlight default link nestNumber Number
highlight default link nestString String
highlight default link nestComment Comment
highlight default link nestDocumentation SpecialComment
highlight default link nestTodo Todo

let b:current_syntax = 'nest'
