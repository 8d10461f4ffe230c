#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the output of --emit megatron against Megatron-LM's own rules.

megatron_rules.py FLAGS.tsv PLAN.json ARGUMENTS.sh
    every flag is known and of the right kind, the rules that the program checks
    at its start and in its first step hold, what it derives (data parallel
    degree, micro-batches, virtual stages, layers of every stage, the rank order)
    is what the plan says.
megatron_rules.py --cases CASES.json
    holds the rules written here against recorded verdicts of the program itself.

Rules: megatron/training/arguments.py (validate_args), megatron/core/transformer/
transformer_config.py (__post_init__), megatron/core/parallel_state.py,
megatron/core/pipeline_parallel/schedules.py, as of commit d98e8a64 (2026-08-22).
Only Python's own library is used.
"""
import json
import re
import shlex
import sys

SWITCH, VALUE = "switch", "value"


class Refused(Exception):
    pass


def demand(condition, text):
    if not condition:
        raise Refused(text)


# --- reading -------------------------------------------------------------------

def read_flags(path):
    flags = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or line.startswith("flag\t"):
                continue
            flag, kind, values, since = line.rstrip("\n").split("\t")
            flags[flag] = (kind, values, since)
    return flags


def read_array(text, name):
    """The words of a bash array, comments left out."""
    match = re.search(rf"^{name}=\(\n(.*?)^\)$", text, re.M | re.S)
    if not match:
        return None
    return shlex.split(match.group(1), comments=True)


def check_value(flag, values, value):
    if values == "int":
        demand(re.fullmatch(r"-?[0-9]+", value), f"{flag} {value}: no whole number")
    elif values == "float":
        float(value)
    elif values == "tuple":
        demand(re.fullmatch(r"\(-?[0-9]+,-?[0-9]+\)", value), f"{flag} {value}: no pair")
    elif "|" in values:
        demand(value in values.split("|"), f"{flag} {value}: not one of {values}")


def parse(words, flags):
    arguments = {}
    position = 0
    while position < len(words):
        flag = words[position]
        demand(flag in flags, f"unknown flag {flag}")
        demand(flag not in arguments, f"{flag} is given twice")
        kind, values, _ = flags[flag]
        position += 1
        if kind == SWITCH:
            arguments[flag] = True
            continue
        demand(position < len(words) and not words[position].startswith("--"),
               f"{flag} has no value")
        if values.startswith("list:"):
            end = position
            while end < len(words) and not words[end].startswith("--"):
                check_value(flag, values.removeprefix("list:"), words[end])
                end += 1
            arguments[flag] = words[position:end]
            position = end
            continue
        check_value(flag, values, words[position])
        arguments[flag] = words[position]
        position += 1
    return arguments


# --- the rules -----------------------------------------------------------------

def expand_layout(text):
    """Stages of a layout string as lists of letters."""
    demand(" " not in text, "a blank in the layout")
    text = text.replace(",", "")
    text = re.sub(r"\(([^()]*)\)\*([0-9]+)", lambda m: m.group(1) * int(m.group(2)), text)
    text = re.sub(r"([^*])\*([0-9]+)", lambda m: m.group(1) * int(m.group(2)), text)
    demand(re.fullmatch(r"[Etm L|]*", text), f"unknown letters in the layout {text}")
    return [list(stage) for stage in text.split("|")]


class Derived:
    """What the program works out from its arguments."""

    def __init__(self, arguments, world):
        def number(flag, default=None):
            value = arguments.get(flag, default)
            return None if value is None else int(value)

        self.world = world
        self.arguments = arguments
        for flag in ("--micro-batch-size", "--num-layers", "--hidden-size",
                     "--num-attention-heads", "--max-position-embeddings", "--seq-length"):
            demand(flag in arguments, f"{flag} is missing")
        self.tensor = number("--tensor-model-parallel-size", 1)
        self.context = number("--context-parallel-size", 1)
        self.pipeline = number("--pipeline-model-parallel-size", 1)
        model = self.tensor * self.context * self.pipeline
        demand(world % model == 0, "the world is no multiple of tensor x context x pipeline")
        self.data = world // model
        self.layers = number("--num-layers")
        self.sequence_length = number("--seq-length")
        self.micro_batch = number("--micro-batch-size")
        self.global_batch = number("--global-batch-size")
        self.derive_virtual(number)
        self.check_model(number)
        self.check_experts(number)
        self.check_batch()
        self.check_recompute()
        self.check_optimizer()

    def derive_virtual(self, number):
        arguments = self.arguments
        layout = arguments.get("--pipeline-model-parallel-layout")
        per_rank = number("--num-virtual-stages-per-pipeline-rank")
        per_stage = number("--num-layers-per-virtual-pipeline-stage")
        demand(sum(x is not None for x in (layout, per_rank, per_stage)) <= 1,
               "more than one of the flags that cut the pipeline")
        if layout is not None:
            self.derive_layout(expand_layout(layout))
        else:
            demand(self.layers % self.pipeline == 0,
                   "layers are no multiple of the pipeline")
            rank_layers = self.layers // self.pipeline
            self.virtual = per_rank or 1
            if per_stage:
                demand(rank_layers % per_stage == 0, "layers of a rank and of a chunk")
                self.virtual = rank_layers // per_stage
            demand(rank_layers % self.virtual == 0, "layers of a rank and virtual stages")
            self.chunks = [rank_layers // self.virtual] * (self.pipeline * self.virtual)
            self.predictions = [0] * len(self.chunks)
            self.predictions[-1] = number("--mtp-num-layers", 0)
        if self.virtual > 1:
            demand(self.pipeline > 1, "virtual stages without a pipeline")
            if "--no-overlap-p2p-communication" in arguments:
                demand(self.pipeline > 2, "virtual stages without overlap and PP 2")

    def derive_layout(self, stages):
        demand(len(stages) % self.pipeline == 0, "stages are no multiple of the pipeline")
        flat = [letter for stage in stages for letter in stage]
        demand(flat and flat[0] == "E" and flat.count("E") == 1, "one E, first")
        demand(flat[-1] == "L" and flat.count("L") == 1, "one L, last")
        demand(flat.count("t") == self.layers, "layers of the layout")
        # Accepted by the program, but the model is then built elsewhere, or may hang.
        demand(stages[0][:1] == ["E"] and stages[-1][-1:] == ["L"], "E or L on the wrong stage")
        demand(all(stages), "an empty stage")
        for flag in ("--account-for-embedding-in-pipeline-split",
                     "--account-for-loss-in-pipeline-split",
                     "--decoder-first-pipeline-num-layers",
                     "--decoder-last-pipeline-num-layers"):
            demand(flag not in self.arguments, f"a layout together with {flag}")
        self.virtual = len(stages) // self.pipeline
        self.chunks = [stage.count("t") for stage in stages]
        self.predictions = [stage.count("m") for stage in stages]
        wanted = int(self.arguments.get("--mtp-num-layers", 0))
        demand(flat.count("m") == wanted, "prediction layers of the layout")
        if wanted:
            at = next(i for i, count in enumerate(self.predictions) if count)
            demand(self.predictions[at] == wanted, "prediction layers on several stages")
            demand("m" not in "".join(flat).rstrip("L").rstrip("m"),
                   "a prediction layer before a layer")
            demand(at // self.pipeline == self.virtual - 1,
                   "prediction layers on no last virtual stage")

    def check_model(self, number):
        heads = number("--num-attention-heads")
        demand(heads % self.tensor == 0, "heads are no multiple of tensor")
        if "--group-query-attention" in self.arguments:
            groups = number("--num-query-groups", 1)
            demand(groups % self.tensor == 0 or self.tensor % groups == 0,
                   "query groups are neither multiple nor divisor of tensor")
        else:
            demand("--num-query-groups" not in self.arguments,
                   "query groups that would be ignored")
        if "--kv-channels" not in self.arguments:
            demand(number("--hidden-size") % heads == 0, "hidden size and heads")
        if self.context > 1:
            demand(self.sequence_length % (2 * self.context) == 0,
                   "the sequence is no multiple of 2 x context")
        if "--sequence-parallel" in self.arguments:
            demand(self.sequence_length // self.context % self.tensor == 0,
                   "the local sequence is no multiple of tensor")
        demand("--mtp-num-layers" not in self.arguments
               or self.arguments.get("--position-embedding-type") in ("rope", "none"),
               "multi-token prediction with learned positions")
        demand(number("--max-position-embeddings") >= self.sequence_length,
               "fewer positions than tokens")
        demand(not ("--bf16" in self.arguments and "--fp16" in self.arguments),
               "bf16 and fp16")

    def check_experts(self, number):
        experts = number("--num-experts")
        self.expert = number("--expert-model-parallel-size", 1)
        self.expert_tensor = number("--expert-tensor-parallel-size", self.tensor)
        if experts is None:
            demand(self.expert == 1, "experts are shared out but there are none")
            self.expert_tensor = 1
            return
        demand(experts % self.expert == 0, "expert does not divide the experts")
        grid = self.expert * self.expert_tensor * self.pipeline
        demand(self.world % grid == 0, "the world is no multiple of the expert grid")
        if "--use-tp-pp-dp-mapping" in self.arguments and self.pipeline > 1:
            demand(self.world // grid == self.data,
                   "expert data and data degrees differ under this rank order")
        demand(self.tensor == 1 or "--sequence-parallel" in self.arguments,
               "experts with tensor > 1 and no sequence parallelism")
        demand(self.expert_tensor == 1 or "--disable-bias-linear" in self.arguments,
               "biases of experts that are cut")
        top = number("--moe-router-topk", 2)
        demand(top > 1 or "--moe-router-pre-softmax" in self.arguments
               or self.arguments.get("--moe-router-score-function") == "sigmoid",
               "one expert a token and softmax over it alone")
        if "--moe-router-enable-expert-bias" in self.arguments:
            demand(self.arguments.get("--moe-router-score-function") == "sigmoid",
                   "a bias of the router without sigmoid scores")
        if "--overlap-moe-expert-parallel-comm" in self.arguments:
            demand(self.expert > 1, "overlap of an exchange that there is not")
            demand(self.pipeline == 1 or self.virtual > 1,
                   "overlap of the exchange in a pipeline without virtual stages")
            demand(self.arguments.get("--recompute-granularity") != "full"
                   and "moe" not in self.arguments.get("--recompute-modules", []),
                   "overlap of an exchange that is recomputed")
        layers = self.arguments.get("--moe-layer-freq")
        if layers and layers.startswith("("):
            runs = re.findall(r"\[([01])\]\*([0-9]+)", layers)
            demand(sum(int(count) for _, count in runs) == self.layers,
                   "the pattern of layers with experts has another length")

    def check_batch(self):
        demand(self.global_batch % (self.micro_batch * self.data) == 0,
               "the global batch is no multiple of micro-batch x data")
        self.micro_batches = self.global_batch // (self.micro_batch * self.data)
        if self.virtual > 1:
            demand(self.micro_batches >= self.pipeline, "fewer micro-batches than stages")
            left = self.micro_batches % self.pipeline
            demand(left == 0, "micro-batches are no multiple of the pipeline")

    def check_recompute(self):
        kind = self.arguments.get("--recompute-granularity")
        method = self.arguments.get("--recompute-method")
        layers = self.arguments.get("--recompute-num-layers")
        if kind == "full":
            demand(method in ("uniform", "block"), "full recomputation without a method")
            demand(layers is not None, "full recomputation without a number of layers")
        elif kind == "selective":
            demand(method is None and layers is None,
                   "selective recomputation with a method or number of layers")
        modules = self.arguments.get("--recompute-modules", [])
        demand(not modules or kind == "selective", "modules without selective recomputation")
        demand("moe_act" not in modules or "--moe-grouped-gemm" in self.arguments,
               "moe_act without grouped products")
        demand("mla_up_proj" not in modules or "--multi-latent-attention" in self.arguments,
               "mla_up_proj without latent attention")
        demand("--fp8-format" not in self.arguments
               or not {"moe_act", "layernorm"} & set(modules),
               "moe_act or layernorm with delayed scaling of fp8")

    def check_optimizer(self):
        fsdp = "--use-megatron-fsdp" in self.arguments
        if fsdp:
            demand(self.arguments.get("--ckpt-format") == "fsdp_dtensor",
                   "Megatron-FSDP with another format of checkpoints")
            demand(self.pipeline == 1, "Megatron-FSDP with a pipeline")
            demand("--use-tp-pp-dp-mapping" not in self.arguments,
                   "Megatron-FSDP with another rank order")
        elif "--data-parallel-sharding-strategy" in self.arguments:
            raise Refused("a sharding strategy that would be ignored")
        self.instances = int(self.arguments.get("--num-distributed-optimizer-instances", 1))
        demand(self.data * self.context % self.instances == 0,
               "instances do not divide the replicas")
        if self.arguments.get("--num-experts"):
            grid = self.expert * self.expert_tensor * self.pipeline
            demand(self.world // grid % self.instances == 0,
                   "instances do not divide the replicas of experts")
        if self.arguments.get("--optimizer") == "muon":
            # Checked for every optimizer that is not built in; the distributed
            # optimizer is then the layer-wise one, which has one instance.
            demand(not fsdp, "muon with Megatron-FSDP")
            demand("--fp16" not in self.arguments, "muon in fp16")
            demand(self.instances == 1, "muon with several instances")
        else:
            demand("--muon-tp-mode" not in self.arguments, "a flag of muon")
        if "--overlap-param-gather" in self.arguments:
            demand("--use-distributed-optimizer" in self.arguments,
                   "overlapping gathers without the distributed optimizer")
            demand("--overlap-grad-reduce" in self.arguments,
                   "overlapping gathers without overlapping reductions")

    def coordinates(self, rank):
        """(tensor, context, data, pipeline) of a rank."""
        sizes = [("tensor", self.tensor), ("context", self.context),
                 ("data", self.data), ("pipeline", self.pipeline)]
        if "--use-tp-pp-dp-mapping" in self.arguments:
            sizes[2], sizes[3] = sizes[3], sizes[2]
        result = {}
        for name, size in sizes:
            result[name] = rank % size
            rank //= size
        return result


# --- one emitted file against its plan -------------------------------------------

def compare(derived, plan):
    parallel = plan["parallelism"]
    for name in ("tensor", "context", "expert", "expert_tensor", "data", "pipeline",
                 "virtual", "micro_batch", "micro_batches", "global_batch"):
        demand(getattr(derived, name) == parallel[name],
               f"{name} is {getattr(derived, name)} there and {parallel[name]} in the plan")
    demand(derived.layers == plan["model"]["layers"], "number of layers")
    demand(("--sequence-parallel" in derived.arguments)
           == (parallel["sequence"] and parallel["tensor"] > 1), "sequence parallelism")
    demand(("--use-distributed-optimizer" in derived.arguments) == (parallel["zero"] > 0),
           "the distributed optimizer")
    strategy = {2: "optim_grads", 3: "optim_grads_params"}.get(parallel["zero"])
    demand(("--use-megatron-fsdp" in derived.arguments) == (strategy is not None)
           and derived.arguments.get("--data-parallel-sharding-strategy") == strategy,
           "the stage of ZeRO")
    if parallel["zero"]:
        demand(derived.data * derived.context // derived.instances == parallel["shards"],
               "another number of shards")
    layers = parallel["recompute_layers_per_chunk"]
    method = derived.arguments.get("--recompute-method")
    if method == "block":
        demand(int(derived.arguments["--recompute-num-layers"]) == layers,
               "another number of recomputed layers")
    elif method == "uniform":
        demand(derived.arguments["--recompute-num-layers"] == "1"
               and layers >= max(derived.chunks), "not all layers are recomputed")
    demand(derived.arguments.get("--recompute-granularity", "none") == parallel["recompute"],
           "recomputation")
    if parallel["recompute"] == "selective":
        demand(derived.arguments.get("--recompute-modules", ["core_attn"])
               == parallel["recompute_modules"], "recomputed modules")
    for stage in plan["stages"]:
        layers = sum(derived.chunks[stage["index"]::derived.pipeline])
        demand(layers == stage["layers"],
               f"stage {stage['index']} gets {layers} layers, the plan says {stage['layers']}")
        for number, chunk in enumerate(stage["chunks"]):
            inner = sum(kind["count"] for kind in chunk["kinds"])
            index = number * derived.pipeline + stage["index"]
            ends = (index == 0) + (index == len(derived.chunks) - 1)
            ends += derived.predictions[index]
            demand(derived.chunks[index] == inner - ends, f"layers of chunk {index}")


def compare_ranks(derived, plan, devices):
    for rank in plan["placement"]["ranks"]:
        number = rank["rank"]
        coordinates = derived.coordinates(number)
        for name, value in coordinates.items():
            demand(rank[name] == value, f"rank {number} has another {name} coordinate")
        inner = coordinates["tensor"] + derived.tensor * (
            coordinates["context"] + derived.context * coordinates["data"])
        demand(rank["expert"] == inner // derived.expert_tensor % derived.expert,
               f"rank {number} has another expert coordinate")
        device = devices[number] if devices else number
        demand(rank["device"] == device, f"rank {number} is started on another device")


def newest(flags, arguments):
    releases = [tuple(int(x) for x in flags[flag][2].split(".")) for flag in arguments]
    return max(releases)


def check_file(flags_path, plan_path, arguments_path):
    flags = read_flags(flags_path)
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    with open(arguments_path, encoding="utf-8") as file:
        text = file.read()
    arguments = parse(read_array(text, "MEGATRON_ARGS"), flags)
    world = int(re.search(r"^MEGATRON_WORLD_SIZE=([0-9]+)$", text, re.M).group(1))
    derived = Derived(arguments, world)
    devices = read_array(text, "RANK_TO_DEVICE")
    devices = [int(word) for word in devices] if devices else None
    compare(derived, plan)
    compare_ranks(derived, plan, devices)
    needs = re.search(r"^# needs +megatron-core ([0-9.]+) ", text, re.M).group(1)
    demand(tuple(int(x) for x in needs.split(".")) >= newest(flags, arguments),
           f"{needs} has not all of the flags")
    if "--use-megatron-fsdp" in arguments:
        demand("unset CUDA_DEVICE_MAX_CONNECTIONS" in text, "kernels run one by one")
    elif derived.tensor > 1 or derived.context > 1:
        demand("CUDA_DEVICE_MAX_CONNECTIONS=1" in text, "the order of kernels is not set")


# --- the rules against recorded verdicts ------------------------------------------

IGNORED = {"--use-mcore-models", "--mock-data", "--tokenizer-type", "--lr", "--min-lr",
           "--train-iters", "--lr-decay-iters", "--lr-warmup-iters", "--bf16"}
MODELLED = {
    "--tensor-model-parallel-size", "--sequence-parallel", "--context-parallel-size",
    "--pipeline-model-parallel-size", "--num-virtual-stages-per-pipeline-rank",
    "--num-layers-per-virtual-pipeline-stage", "--no-overlap-p2p-communication",
    "--pipeline-model-parallel-layout", "--use-tp-pp-dp-mapping", "--micro-batch-size",
    "--global-batch-size", "--use-distributed-optimizer", "--overlap-grad-reduce",
    "--overlap-param-gather", "--recompute-granularity", "--recompute-method",
    "--recompute-num-layers", "--num-layers", "--hidden-size", "--ffn-hidden-size",
    "--num-attention-heads", "--group-query-attention", "--num-query-groups",
    "--kv-channels", "--seq-length", "--max-position-embeddings", "--vocab-size",
    "--swiglu", "--normalization", "--disable-bias-linear", "--position-embedding-type",
    "--untie-embeddings-and-output-weights", "--rotary-base",
    "--account-for-embedding-in-pipeline-split", "--num-experts",
    "--expert-model-parallel-size", "--expert-tensor-parallel-size",
}


def loose(words):
    """Flags and values without a table: a value never begins with two dashes."""
    arguments = {}
    for position, word in enumerate(words):
        if not word.startswith("--"):
            continue
        following = words[position + 1] if position + 1 < len(words) else "--"
        arguments[word] = True if following.startswith("--") else following
    return arguments


def judge(case):
    try:
        return Derived(loose(case["argv"]), case["world_size"])
    except Refused:
        return None


def stricter(case):
    """Accepted by the program, refused here on purpose: see derive_layout."""
    return "hole" in case["name"] or "empty" in case["name"]


def check_case(case):
    derived = judge(case)
    if not case["accepted"]:
        demand(derived is None, f"{case['name']}: refused there, accepted here")
        return
    if derived is None:
        demand(stricter(case), f"{case['name']}: accepted there, refused here")
        return
    there = case["derived"]
    demand(there["data_parallel_size"] == derived.data, f"{case['name']}: data")
    demand((there["virtual_pipeline_model_parallel_size"] or 1) == derived.virtual,
           f"{case['name']}: virtual stages")
    demand(there["num_microbatches"] == derived.micro_batches, f"{case['name']}: batches")
    for rank, chunks in enumerate(case["stage_layers"] or []):
        counts = [end - first for first, end in chunks]
        demand(counts == derived.chunks[rank::derived.pipeline],
               f"{case['name']}: layers of rank {rank}")
    for group in (case.get("first_groups") or {}).get("DATA_PARALLEL_GROUP", [])[:2]:
        places = [derived.coordinates(rank) for rank in group]
        demand([place["data"] for place in places] == list(range(derived.data))
               and all(place["pipeline"] == places[0]["pipeline"] for place in places),
               f"{case['name']}: data-parallel group")


def check_cases(path):
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    looked_at = 0
    for case in cases:
        flags = {word for word in case["argv"] if word.startswith("--")}
        if flags - MODELLED - IGNORED or "CUDA_DEVICE" in case["name"]:
            continue
        if case["refused_in"] == "parse":       # spelling: the table of flags checks it
            continue
        check_case(case)
        looked_at += 1
    demand(looked_at >= 10, f"only {looked_at} cases are within these rules")
    print(f"{looked_at} of {len(cases)} cases agree")


def main():
    try:
        if sys.argv[1] == "--cases":
            check_cases(sys.argv[2])
        else:
            check_file(*sys.argv[1:4])
    except Refused as refusal:
        print(refusal)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
