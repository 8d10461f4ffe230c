# Shapes of the standard library by the names of config.json. The lines were printed first and then each
# field compared with what is public. config.json itself, pages of huggingface.co:
#   bert_large (google-bert), gpt2_xl (openai-community);
#   copies and descendants that name their base: bert_base, llama2_7b, llama3_405b, mistral_7b, qwen25_500m,
#   qwen25_32b, qwen25_72b (TeamDelta/Re-ultiima-32B, BitStack/BitStack-Qwen2.5-72B), gemma_2b, gemma_7b,
#   gemma2_9b, gemma2_27b, llama3_70b; deepseek_v3 (inference/configs/config_671B.json).
# Elsewhere, in files that quote it:
#   Lightning-AI/litgpt, litgpt/config.py: all of llama2, llama3, mistral_7b, mixtral, qwen25, qwen3
#     (its norm_eps of Gemma is a default and not taken)
#   meta-llama/llama-models, models/sku_list.py: llama3 (its Llama 2 repeats Llama 3 and is not taken)
#   google/gemma_pytorch, gemma/config.py, model.py: gemma, gemma2
#   openai/gpt-2, src/model.py: gpt2_small; that its vocab_size is 50,257: karpathy/nanoGPT, model.py
#   kevinstephano/thunder_model_blocks, mistral_config.py: mistral_nemo_12b. Its model card says "hidden dim
#     14,436"; config.json says 14,336.
#   Cerebras/modelzoo, params_mixtral_8x22b.yaml: vocab_size 32,000 of the base model of mixtral_8x22b
#   huggingface/transformers, configuration_deepseek_v3.py; vLLM, transformers_utils/configs/deepseek_v3.py:
#     deepseek_v3 with rope_theta and eps
#   NVIDIA-NeMo/Megatron-Bridge, kimi_provider.py; slime, scripts/models/kimi-k2.sh: kimi_k2
# eps of Qwen2.5: 1e-5 for the base models of 32B and 72B, 1e-6 for the instructed ones (of 32B also said in
# discussion 9 of Qwen/QwQ-32B). llama3_405b: 8 key-value heads (llama-models, litgpt, some copies of config.json);
# older copies of config.json say 16.
# Tied or not: config.json and the programs above; qwen3_235b_a22b: Ascend/MindSpeed-RL, configs/model.
# From memory: gpt3_175b, whose table 2.1 of Brown et al. 2020 could not be read itself (NVIDIA/Megatron-LM,
# examples/gpt3, has the same layers, width and heads; vocabulary, eps and tied are GPT-2's, the eps is not
# published); that bert is tied.
nestc compile parameters.nest --job bert_base_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job bert_large_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job gpt2_small_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job gpt2_xl_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job gpt3_175b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job llama2_7b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job llama2_13b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job llama2_70b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job llama3_8b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job llama3_70b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job llama3_405b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job mistral_7b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job mistral_nemo_12b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job mixtral_8x7b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job mixtral_8x22b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen25_500m_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen25_7b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen25_32b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen25_72b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen3_8b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen3_32b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen3_30b_a3b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job qwen3_235b_a22b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job gemma_2b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job gemma_7b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job gemma2_9b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job gemma2_27b_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job deepseek_v3_job --dump=ir | awk -f shape.awk
nestc compile parameters.nest --job kimi_k2_job --dump=ir | awk -f shape.awk
