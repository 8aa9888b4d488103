/** Writes a network as an ONNX file, one initializer after the other, so that only one of them is in memory. */
import { open } from "node:fs/promises";
import { encodeMessage } from "../../protobuf/encode-message.ts";
import { wireType } from "../../protobuf/message-type.ts";
import {
  graphField,
  graphProto,
  initializerField,
  modelProto,
  onnxType,
  rawDataField,
  tensorProto,
} from "./onnx-messages.ts";

export interface Initializer {
  readonly name: string;
  readonly type: keyof typeof onnxType;
  readonly shape: readonly number[];
  readonly byteLength: number;
  /** Called once, in the order of the initializers. */
  bytes(): Promise<Uint8Array>;
}

interface Attribute {
  readonly name: string;
  readonly type: number;
  readonly f?: number;
  readonly i?: number;
  readonly ints?: readonly number[];
}

export interface Node {
  readonly name: string;
  readonly opType: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly attribute: readonly Attribute[];
}

export interface Value {
  readonly name: string;
  readonly type: keyof typeof onnxType;
  /** Names for what differs from call to call. */
  readonly shape: readonly (number | string)[];
}

export interface Network {
  readonly nodes: readonly Node[];
  readonly initializers: readonly Initializer[];
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly metadata: ReadonlyMap<string, string>;
}

/** Of the operators that the graphs use; ONNX Runtime reads all before its own. */
const operatorSetVersion = 17;
const irVersion = 8;
/** Protobuf's own limit. */
const mostBytes = 2 ** 31 - 1;
const slice = 2 ** 22;

/** @param onBytes called with the bytes of initializers that have been written */
export async function writeNetwork(path: string, network: Network, onBytes: (count: number) => void): Promise<void> {
  const parts = network.initializers.map((initializer) => ({ initializer, head: headOf(initializer) }));
  const graph = encodeMessage(graphProto, {
    node: network.nodes,
    name: "g",
    input: network.inputs.map(valueInfo),
    output: network.outputs.map(valueInfo),
  });
  const graphBytes = parts.reduce(
    (sum, { initializer, head }) => sum + head.length + initializer.byteLength,
    graph.length,
  );
  if (graphBytes > mostBytes)
    throw new Error(`The network has ${graphBytes} bytes; an ONNX file has at most ${mostBytes}.`);
  const model = encodeMessage(modelProto, {
    irVersion,
    producerName: "sounding",
    opsetImport: [{ domain: "", version: operatorSetVersion }],
    metadataProps: [...network.metadata].map(([key, value]) => ({ key, value })),
  });
  const file = await open(path, "wx");
  try {
    await file.writeFile(Buffer.concat([model, fieldHead(graphField, graphBytes), graph]));
    for (const { initializer, head } of parts) {
      await file.writeFile(head);
      const bytes = await initializer.bytes();
      if (bytes.length !== initializer.byteLength) throw new Error(`${initializer.name} has ${bytes.length} bytes.`);
      for (let from = 0; from < bytes.length; from += slice) {
        const piece = bytes.subarray(from, from + slice);
        await file.writeFile(piece);
        onBytes(piece.length);
      }
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What is before the initializer's bytes. */
function headOf({ name, type, shape, byteLength }: Initializer): Buffer {
  const facts = encodeMessage(tensorProto, { dims: shape, dataType: onnxType[type], name });
  const raw = fieldHead(rawDataField, byteLength);
  return Buffer.concat([fieldHead(initializerField, facts.length + raw.length + byteLength), facts, raw]);
}

function valueInfo({ name, type, shape }: Value): unknown {
  const dim = shape.map((size) => (typeof size === "number" ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType: onnxType[type], shape: { dim } } } };
}

/** The number and the length of a field of bytes. */
function fieldHead(number: number, length: number): Buffer {
  const bytes: number[] = [(number << 3) | wireType.bytes];
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
