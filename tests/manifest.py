#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a plan file against the published schema and against itself.

manifest.py [--only-schema] SCHEMA PLAN: the part of JSON Schema that the schema uses is
interpreted here, so that no package beyond Python's own library is needed.
Every further check is arithmetic on the plan's own numbers.
"""
import json
import math
import sys

FAULTS = []


def fault(text):
    FAULTS.append(text)


def close(a, b, relative=1e-9):
    return math.isclose(a, b, rel_tol=relative, abs_tol=1e-12)


# --- JSON Schema, as far as plan.schema.json goes ------------------------------

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}


def is_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


KNOWN = {
    "$schema", "$id", "$defs", "definitions", "$ref", "title", "description",
    "type", "enum", "const", "properties", "required", "additionalProperties",
    "items", "minItems", "maxItems", "minimum", "exclusiveMinimum", "maximum",
    "pattern", "minLength", "$comment", "prefixItems", "patternProperties",
    "examples", "oneOf", "anyOf",
}


def validate(value, schema, root, where="$"):
    unknown = set(schema) - KNOWN
    if unknown:
        fault(f"{where}: the schema uses {sorted(unknown)}, which is not checked here")
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].lstrip("#/").split("/"):
            target = target[step]
        validate(value, target, root, where)
    if "type" in schema:
        names = schema["type"]
        names = names if isinstance(names, list) else [names]
        if not any(is_type(value, name) for name in names):
            fault(f"{where}: is no {' or '.join(names)}")
            return
    if "enum" in schema and value not in schema["enum"]:
        fault(f"{where}: {value!r} is not one of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        fault(f"{where}: {value!r} is not {schema['const']!r}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            fault(f"{where}: {value} is below {schema['minimum']}")
        if "maximum" in schema and value > schema["maximum"]:
            fault(f"{where}: {value} is above {schema['maximum']}")
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            fault(f"{where}: {value} is not above {schema['exclusiveMinimum']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                fault(f"{where}: '{name}' is missing")
        for name, item in value.items():
            if name in properties:
                validate(item, properties[name], root, f"{where}.{name}")
            elif isinstance(schema.get("additionalProperties"), dict):
                validate(item, schema["additionalProperties"], root, f"{where}.{name}")
            elif schema.get("additionalProperties") is False:
                fault(f"{where}: '{name}' is not in the schema")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            fault(f"{where}: has fewer than {schema['minItems']} entries")
        if "items" in schema and isinstance(schema["items"], dict):
            for index, item in enumerate(value):
                validate(item, schema["items"], root, f"{where}[{index}]")


# --- the plan against itself -------------------------------------------------

def check_degrees(plan):
    parallel = plan["parallelism"]
    used = (parallel["tensor"] * parallel["context"] * parallel["data"]
            * parallel["pipeline"])
    if used > plan["cluster"]["devices"]:
        fault(f"{used} devices used of {plan['cluster']['devices']}")
    per_pipeline = parallel["micro_batch"] * parallel["data"]
    if per_pipeline * parallel["micro_batches"] != parallel["global_batch"]:
        fault("micro_batch x data x micro_batches is not global_batch")
    fanouts = [level["fanout"] for level in plan["cluster"]["levels"]]
    if "factors" not in plan["placement"]:
        return used
    factors = plan["placement"]["factors"]
    for name in ("tensor", "context", "data", "pipeline"):
        if math.prod(factors[name]) != parallel[name]:
            fault(f"the factors of {name} do not multiply to its degree")
    for level, fanout in enumerate(fanouts):
        if math.prod(rows[level] for rows in factors.values()) > fanout:
            fault(f"level {level} is placed beyond its fanout {fanout}")
    return used


def check_stages(plan):
    parallel = plan["parallelism"]
    chunks = []
    for stage in plan["stages"]:
        for number, chunk in enumerate(stage["chunks"]):
            order = number * parallel["pipeline"] + stage["index"]
            chunks.append((order, chunk["first_layer"], chunk["last_layer"]))
        memory = stage["memory"]
        parts = [memory[name] for name in ("parameters", "gradients", "optimizer",
                                           "activations", "working", "reserve")]
        if not close(sum(parts), memory["total"]):
            fault(f"stage {stage['index']}: memory components do not sum to the total")
        if memory["total"] > memory["limit"]:
            fault(f"stage {stage['index']}: memory is above the limit")
        if any(part < 0 for part in parts):
            fault(f"stage {stage['index']}: a negative memory component")
    chunks.sort()
    expected = 0
    for _, first, last in chunks:
        if first != expected or last < first:
            fault(f"the chain is not covered in order at position {expected}")
        expected = last + 1
    if len(chunks) != parallel["pipeline"] * parallel["virtual"]:
        fault("there are not pipeline x virtual chunks")
    if sum(stage["layers"] for stage in plan["stages"]) != plan["model"]["layers"]:
        fault("the stages' layers do not sum to the model's")
    peak = max(stage["memory"]["total"] for stage in plan["stages"])
    if not close(peak, plan["predicted"]["memory_peak"]):
        fault("memory_peak is not the largest total")


def device_of(plan, coordinate):
    """Depth-first number of the device at a rank's coordinates."""
    factors = plan["placement"]["factors"]
    left = dict(coordinate)
    inside = plan["placement"]["order"] == "tp-cp-pp-dp"
    order = ("tensor", "context") + (
        ("pipeline", "data") if inside else ("data", "pipeline"))
    device, below = 0, 1
    for level, info in enumerate(plan["cluster"]["levels"]):
        position, stride = 0, 1
        for name in order:
            factor = factors[name][level]
            position += left[name] % factor * stride
            stride *= factor
            left[name] //= factor
        device += position * below
        below *= info["fanout"]
    return device


def check_ranks(plan, used):
    ranks = plan["placement"].get("ranks")
    if ranks is None:
        return
    parallel = plan["parallelism"]
    names = ("tensor", "context", "data", "pipeline")
    if [rank["rank"] for rank in ranks] != list(range(used)):
        fault("ranks are not 0 .. devices used - 1 in order")
    if len({rank["device"] for rank in ranks}) != used:
        fault("two ranks share a device")
    if len({tuple(rank[name] for name in names) for rank in ranks}) != used:
        fault("two ranks share coordinates")
    if len({rank["path"] for rank in ranks}) != used:
        fault("two ranks share a path")
    for rank in ranks:
        if any(not 0 <= rank[name] < parallel[name] for name in names):
            fault(f"rank {rank['rank']}: a coordinate beyond its degree")
            break
        if "factors" not in plan["placement"] or "moved" in plan["placement"]:
            continue
        device = device_of(plan, rank)
        if "graph" in plan["cluster"]:
            device = plan["cluster"]["graph"]["places"][device]
        if device != rank["device"]:
            fault(f"rank {rank['rank']}: its device does not follow from the factors")
            break


def check_prediction(plan):
    predicted = plan["predicted"]
    if not close(sum(predicted["breakdown"].values()), predicted["iteration_time"]):
        fault("the breakdown does not sum to the iteration time")
    if any(part < -1e-12 for part in predicted["breakdown"].values()):
        fault("a negative term in the breakdown")
    if not 0.0 < predicted["mfu"] < 1.0:
        fault(f"an MFU of {predicted['mfu']}")
    certificate = plan["certificate"]
    if certificate["lower_bound"] > certificate["value"] * (1 + 1e-9):
        fault("the lower bound is above the value")
    gap = (certificate["value"] - certificate["lower_bound"]) / certificate["value"]
    if not math.isclose(gap, certificate["gap"], abs_tol=1e-9):
        fault("the gap does not follow from value and bound")
    # On a graph the bound is that of its hierarchy.
    if certificate["gap"] > 0.01 and "graph" not in plan["cluster"]:
        fault(f"a gap of {certificate['gap']:.2%} is above 1 %")
    counted = sum(certificate[name] for name in certificate
                  if name in ("priced", "bounded") or name.startswith("infeasible"))
    if counted != certificate["configurations"]:
        fault("the certificate's counts do not add up")


def main():
    only_schema = sys.argv[1] == "--only-schema"
    names = sys.argv[2:] if only_schema else sys.argv[1:]
    with open(names[0], encoding="utf-8") as file:
        schema = json.load(file)
    with open(names[1], encoding="utf-8") as file:
        plan = json.load(file)
    validate(plan, schema, schema)
    if not FAULTS and not only_schema:
        used = check_degrees(plan)
        check_stages(plan)
        check_ranks(plan, used)
        check_prediction(plan)
    for text in FAULTS[:20]:
        print(text)
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
