#!/usr/bin/env python3
"""onnx_reader.py MODEL OBSERVATIONS OUTPUTS: reads an ONNX file and evaluates its graph, with Python's own library alone.

A second opinion on what src/export/onnx.cpp writes: the wire format of protobuf, the messages of onnx.proto and the
operators' definitions, from their specifications. OBSERVATIONS holds rows of float32; OUTPUTS gets those of all the
graph's outputs, row by row. Standard output gets one JSON object: versions, names, shapes and metadata.
"""
import json
import math
import struct
import sys


def fields(message):
    """(number, value) of each field: an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            length = varint()
            assert at + length <= len(message), "a field ends beyond its message"
            yield key >> 3, message[at : at + length]
            at += length
        else:
            raise ValueError(f"wire type {key & 7}")


def every(message, number):
    return [value for found, value in fields(message) if found == number]


def only(message, number):
    (value,) = every(message, number)
    return value


def text(message, number):
    return only(message, number).decode()


def value_info(message):
    tensor = only(only(message, 2), 1)
    assert only(tensor, 1) == 1, "elements are float32"
    shape = [text(dim, 2) if every(dim, 2) else only(dim, 1) for dim in every(only(tensor, 2), 1)]
    return text(message, 1), shape


def constant(message):
    shape = every(message, 1)
    assert only(message, 2) == 1, "elements are float32"
    raw = only(message, 9)
    assert len(raw) == 4 * math.prod(shape), "as much data as the shape says"
    return text(message, 8), (shape, struct.unpack(f"<{math.prod(shape)}f", raw))


def gemm(node, row, constants):
    """row times weight, transposed, plus bias."""
    (attribute,) = every(node, 5)
    assert (text(attribute, 1), only(attribute, 3), only(attribute, 20)) == ("transB", 1, 2)
    (outputs, inputs), weight = constants[every(node, 1)[1].decode()]
    _, bias = constants[every(node, 1)[2].decode()]
    assert len(row) == inputs and len(bias) == outputs
    return [bias[o] + sum(w * x for w, x in zip(weight[o * inputs : (o + 1) * inputs], row)) for o in range(outputs)]


BY_COLUMN = {
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Add": lambda a, b: a + b,
    "Max": lambda a, b: a if a != a or a > b else b,
    "Min": lambda a, b: a if a != a or a < b else b,
}


def evaluate(graph, constants, name, row):
    values = {name: row}
    for node in every(graph, 1):
        names = [value.decode() for value in every(node, 1)]
        op = text(node, 4)
        first = values[names[0]]
        if op == "Gemm":
            result = gemm(node, first, constants)
        elif op == "Tanh":
            result = [math.tanh(x) for x in first]
        elif op == "Identity":
            result = first
        else:
            shape, column = constants[names[1]]
            assert shape == [len(first)], "one number a column"
            result = [BY_COLUMN[op](a, b) for a, b in zip(first, column)]
        output = text(node, 2)
        assert output not in values, "a value is made once"
        values[output] = result
    return values


def main(model_path, observations_path, outputs_path):
    with open(model_path, "rb") as file:
        model = file.read()
    graph = only(model, 7)
    constants = dict(constant(message) for message in every(graph, 5))
    ((name, (batch, width)),) = [value_info(message) for message in every(graph, 11)]
    outputs = [value_info(message) for message in every(graph, 12)]
    with open(observations_path, "rb") as file:
        numbers = [value for (value,) in struct.iter_unpack("<f", file.read())]
    with open(outputs_path, "wb") as file:
        for begin in range(0, len(numbers), width):
            values = evaluate(graph, constants, name, numbers[begin : begin + width])
            for output, shape in outputs:
                assert shape == [batch, len(values[output])]
                file.write(struct.pack(f"<{shape[1]}f", *values[output]))
    opset = only(model, 8)
    print(json.dumps({
        "ir": only(model, 1), "producer": text(model, 2), "opset": only(opset, 2), "domain": text(opset, 1),
        "input": [name, batch, width], "outputs": outputs,
        "metadata": {text(entry, 1): text(entry, 2) for entry in every(model, 14)}}))


if __name__ == "__main__":
    main(*sys.argv[1:])
