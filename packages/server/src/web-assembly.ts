/** Types the used part of the WebAssembly API, which TypeScript knows only with the DOM's types. */
export interface WasmModule {
  readonly "~module": never;
}

export interface WasmMemory {
  /** Another one after the memory has grown. */
  readonly buffer: ArrayBuffer;
}

interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

export type WasmFunction = (...operands: number[]) => number;

interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  readonly Module: {
    new (bytes: Uint8Array): WasmModule;
    imports(module: WasmModule): { readonly module: string; readonly name: string }[];
  };
  readonly Instance: new (
    module: WasmModule,
    imports?: Readonly<Record<string, Readonly<Record<string, WasmFunction>>>>,
  ) => WasmInstance;
}

export const { WebAssembly: webAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };
