/** The environment of child processes that load native code, without API keys and the server's settings. */

const libraryPathNames = new Set(["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"]);

/** Folders where GPU drivers look for their files, caches and temporary files. */
const driverNames = new Set(["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_DIRS"]);
/** Variables with which operators select and tune GPUs and threads. */
const tuningPattern =
  /^(?:CUDA|NVIDIA|NV|GGML|LLAMA|VK|VULKAN|MESA|DRI|HIP|ROCR|ROCM|HSA|GPU|ZE|ZES|ONEAPI|SYCL|OMP|GOMP|KMP|MTL|METAL)_/;
/** A prefix such as NVIDIA_ would also pass secrets: NVIDIA_API_KEY. */
const secretPattern = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH|URL/i;

function pick(wanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && wanted(name) ? [[name, value]] : [],
    ),
  );
}

/**
 * The variables that locate shared libraries. Windows passes its own to every process.
 * @param folders in which Linux's loader looks first
 */
export function libraryPaths(folders: readonly string[] = []): Record<string, string> {
  const paths = pick((name) => libraryPathNames.has(name));
  if (folders.length === 0) return paths;
  const { LD_LIBRARY_PATH: inherited } = paths;
  return { ...paths, LD_LIBRARY_PATH: [...folders, ...(inherited ? [inherited] : [])].join(":") };
}

/**
 * Environment of a process that computes on a GPU: `libraryPaths`, the drivers' folders, and variables that select and
 * tune devices.
 */
export function computeEnvironment(): Record<string, string> {
  return pick(
    (name) =>
      libraryPathNames.has(name) || driverNames.has(name) || (tuningPattern.test(name) && !secretPattern.test(name)),
  );
}

/** Folders with programs, for a process that the server starts without its environment. */
export function programPath(): string | undefined {
  return process.env["PATH"];
}
