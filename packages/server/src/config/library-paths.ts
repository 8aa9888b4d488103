/** The environment of child processes that load native code: no API keys, no settings of the server. */

const libraryPathNames = new Set(["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"]);

/** Where GPU drivers look for their files, caches and temporary files. */
const driverNames = new Set(["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_DIRS"]);
/** Variables by which operators choose and tune GPUs and threads. */
const tuningPattern =
  /^(?:CUDA|NVIDIA|NV|GGML|LLAMA|VK|VULKAN|MESA|DRI|HIP|ROCR|ROCM|HSA|GPU|ZE|ZES|ONEAPI|SYCL|OMP|GOMP|KMP|MTL|METAL)_/;
/** Prefixes such as NVIDIA_ have variables with secrets, too: NVIDIA_API_KEY. */
const secretPattern = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH|URL/i;

function pick(wanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && wanted(name) ? [[name, value]] : [],
    ),
  );
}

/** The variables that say where shared libraries are. Windows passes its own to every process anyway. */
export function libraryPaths(): Record<string, string> {
  return pick((name) => libraryPathNames.has(name));
}

/** What a process that computes on a GPU needs: `libraryPaths`, places of drivers, and variables that choose and tune devices. */
export function computeEnvironment(): Record<string, string> {
  return pick(
    (name) =>
      libraryPathNames.has(name) || driverNames.has(name) || (tuningPattern.test(name) && !secretPattern.test(name)),
  );
}
