/** Decides which files of a package or folder belong to a model: weights, JSON, texts and licenses, but never code. */

/** Weights and what sherpa-onnx loads with them. Pickled weights (`.pt`, `.pth`, `.ckpt`) contain code. */
const weights = /\.(?:gguf|onnx|onnx_data|ort|bin|safetensors|npz|npy|fst|far)$/i;
/** `model.gguf.part01`, `model.bin-part-2` */
const numberedPart = /^(?<whole>.+?)[._-]part[._-]?(?<number>\d{1,4})$/i;
const texts = /\.(?:json|txt|md|html|model|sha256)$/i;
const notes = /^(?:licen[cs]e|copying|notice|authors|model[_-]?card|readme|metadata$|sha256sums)/i;
const legal = /^(?:licen[cs]e|copying|notice|model[_-]?card)|terms/i;
const code = /\.(?:py[cdwi]?|so|dll|dylib|exe|[cm]?[jt]sx?|sh|bat|cmd|ps1)$/i;

export interface NumberedPart {
  readonly whole: string;
  readonly number: number;
}

/** What the file name of a part says; undefined for another file. */
export function readPartName(name: string): NumberedPart | undefined {
  const groups = numberedPart.exec(name)?.groups;
  return groups === undefined ? undefined : { whole: groups["whole"]!, number: Number(groups["number"]) };
}

export function isWeightsFile(name: string): boolean {
  return weights.test(name) || weights.test(readPartName(name)?.whole ?? "");
}

/** Whether the file says under which terms a model may be used. */
export function isLegalText(name: string): boolean {
  return legal.test(name) && !code.test(name);
}

/** Whether the file belongs to a model. Hidden files and folders do not. */
export function isKept(segments: readonly string[]): boolean {
  const name = segments.at(-1)!;
  if (segments.some((segment) => segment.startsWith(".") || segment === "__pycache__")) return false;
  if (code.test(name)) return false;
  return (
    segments.includes("espeak-ng-data") ||
    isWeightsFile(name) ||
    texts.test(name) ||
    notes.test(name) ||
    isLegalText(name)
  );
}
