/**
 * Describes the messages of an ONNX file as far as we write them. Initializers are written by `onnx-file.ts`, since their bytes
 * are too many for a message in memory. https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */
import { message } from "../../protobuf/message-type.ts";

/** Numbers of TensorProto.DataType. */
export const onnxType = { float: 1, int8: 3, int64: 7, float16: 10 } as const;
/** Numbers of AttributeProto.AttributeType. */
export const attributeType = { float: 1, int: 2, ints: 7 } as const;

const attributeProto = message("AttributeProto", {
  name: [1, "string"],
  f: [2, "float"],
  i: [3, "int64"],
  ints: [8, "int64", "repeated"],
  type: [20, "enum"],
});

const nodeProto = message("NodeProto", {
  input: [1, "string", "repeated"],
  output: [2, "string", "repeated"],
  name: [3, "string"],
  opType: [4, "string"],
  attribute: [5, attributeProto, "repeated"],
});

const dimension = message("Dimension", { dimValue: [1, "int64"], dimParam: [2, "string"] });
const tensorShapeProto = message("TensorShapeProto", { dim: [1, dimension, "repeated"] });
const tensorType = message("Tensor", { elemType: [1, "enum"], shape: [2, tensorShapeProto] });
const typeProto = message("TypeProto", { tensorType: [1, tensorType] });
const valueInfoProto = message("ValueInfoProto", { name: [1, "string"], type: [2, typeProto] });

/** Without `raw_data`, field 9. */
export const tensorProto = message("TensorProto", {
  dims: [1, "int64", "repeated"],
  dataType: [2, "enum"],
  name: [8, "string"],
});
export const rawDataField = 9;

/** Without its initializers, field 5. */
export const graphProto = message("GraphProto", {
  node: [1, nodeProto, "repeated"],
  name: [2, "string"],
  input: [11, valueInfoProto, "repeated"],
  output: [12, valueInfoProto, "repeated"],
});
export const initializerField = 5;

const operatorSet = message("OperatorSetIdProto", { domain: [1, "string"], version: [2, "int64"] });
const stringEntry = message("StringStringEntryProto", { key: [1, "string"], value: [2, "string"] });

/** Without its graph, field 7. */
export const modelProto = message("ModelProto", {
  irVersion: [1, "int64"],
  producerName: [2, "string"],
  opsetImport: [8, operatorSet, "repeated"],
  metadataProps: [14, stringEntry, "repeated"],
});
export const graphField = 7;
