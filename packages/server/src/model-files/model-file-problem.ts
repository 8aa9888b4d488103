/** Checks whether a downloaded file has the format that its name promises. */
import { ggufProblem } from "./gguf-file.ts";
import { onnxProblem } from "./onnx-metadata.ts";

/**
 * Why a file is not the model that its name promises; undefined if it may be one, or promises none.
 * @param name of the final file, since the checked one may still have another
 */
export async function modelFileProblem(name: string, path: string): Promise<string | undefined> {
  if (/\.onnx$/i.test(name)) return onnxProblem(path);
  return /\.gguf$/i.test(name) ? ggufProblem(path) : undefined;
}
