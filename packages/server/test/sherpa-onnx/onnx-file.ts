/**
 * Writes ONNX files for tests: a graph of operators with its weights and metadata, as protobuf.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */
import protobuf from "protobufjs";

/** The part of the format that the tests need. */
const format = `
syntax = "proto3";
message ModelProto {
  int64 ir_version = 1;
  string producer_name = 2;
  GraphProto graph = 7;
  repeated OperatorSetIdProto opset_import = 8;
  repeated StringStringEntryProto metadata_props = 14;
}
message OperatorSetIdProto { string domain = 1; int64 version = 2; }
message StringStringEntryProto { string key = 1; string value = 2; }
message GraphProto {
  repeated NodeProto node = 1;
  string name = 2;
  repeated TensorProto initializer = 5;
  repeated ValueInfoProto input = 11;
  repeated ValueInfoProto output = 12;
}
message NodeProto {
  repeated string input = 1;
  repeated string output = 2;
  string op_type = 4;
  repeated AttributeProto attribute = 5;
}
message AttributeProto { string name = 1; float f = 2; int64 i = 3; repeated float floats = 7; repeated int64 ints = 8; int32 type = 20; }
message TensorProto { repeated int64 dims = 1; int32 data_type = 2; string name = 8; bytes raw_data = 9; }
message ValueInfoProto { string name = 1; TypeProto type = 2; }
message TypeProto { TensorType tensor_type = 1; }
message TensorType { int32 elem_type = 1; TensorShapeProto shape = 2; }
message TensorShapeProto { repeated Dimension dim = 1; }
message Dimension { oneof value { int64 dim_value = 1; string dim_param = 2; } }
`;
const model = protobuf.parse(format, { keepCase: true }).root.lookupType("ModelProto");

type ElementType = "float" | "int32" | "int64";
const elementTypes: Readonly<Record<ElementType, number>> = { float: 1, int32: 6, int64: 7 };

/** Name, element type and dimensions; a dimension with a name may have any length. */
export type TensorSpec = readonly [name: string, type: ElementType, dims: readonly (number | string)[]];

export interface OnnxNode {
  readonly op: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
  /** Integers and lists of integers; `cast` is an element type. */
  readonly attributes?: Readonly<Record<string, number | readonly number[] | ElementType>>;
}

export interface OnnxModel {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly nodes: readonly OnnxNode[];
  /** Weights by name. */
  readonly weights?: Readonly<Record<string, Weights>>;
  readonly metadata?: Readonly<Record<string, string | number>>;
}

interface Weights {
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly values: readonly number[];
}

export function floats(dims: readonly number[], values: readonly number[]): Weights {
  return { type: "float", dims, values };
}

export function integers(dims: readonly number[], values: readonly number[]): Weights {
  return { type: "int64", dims, values };
}

/** One node with one output. */
export function node(
  op: string,
  input: readonly string[],
  output: string,
  attributes: OnnxNode["attributes"] = {},
): OnnxNode {
  return { op, input, output: [output], attributes };
}

function rawData({ type, values }: Weights): Uint8Array {
  if (type === "float") return new Uint8Array(new Float32Array(values).buffer);
  if (type === "int32") return new Uint8Array(new Int32Array(values).buffer);
  return new Uint8Array(new BigInt64Array(values.map((value) => BigInt(value))).buffer);
}

function toAttribute([name, value]: [string, number | readonly number[] | ElementType]) {
  if (typeof value === "string") return { name, type: 2, i: elementTypes[value] };
  if (typeof value === "number")
    return Number.isInteger(value) ? { name, type: 2, i: value } : { name, type: 1, f: value };
  return { name, type: 7, ints: value };
}

function toValueInfo([name, type, dims]: TensorSpec) {
  const dim = dims.map((each) => (typeof each === "number" ? { dim_value: each } : { dim_param: each }));
  return { name, type: { tensor_type: { elem_type: elementTypes[type], shape: { dim } } } };
}

export function encodeOnnx({ inputs, outputs, nodes, weights = {}, metadata = {} }: OnnxModel): Uint8Array {
  const graph = {
    name: "test",
    node: nodes.map(({ op, input, output, attributes = {} }) => ({
      op_type: op,
      input,
      output,
      attribute: Object.entries(attributes).map(toAttribute),
    })),
    initializer: Object.entries(weights).map(([name, each]) => ({
      name,
      dims: each.dims,
      data_type: elementTypes[each.type],
      raw_data: rawData(each),
    })),
    input: inputs.map(toValueInfo),
    output: outputs.map(toValueInfo),
  };
  const message = {
    ir_version: 8,
    producer_name: "sounding-tests",
    graph,
    opset_import: [{ domain: "", version: 17 }],
    metadata_props: Object.entries(metadata).map(([key, value]) => ({ key, value: String(value) })),
  };
  return model.encode(model.fromObject(message)).finish();
}
