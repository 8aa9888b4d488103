/**
 * Frees native objects inside a WebAssembly module that many streams share: when their stream ends, or by the garbage
 * collector if the stream is abandoned because its client left.
 */

/** A native object: `free` releases it once, and is safe to call again. */
export interface NativeObject {
  readonly pointer: number;
  free(): void;
}

const abandoned = new FinalizationRegistry<() => void>((free) => {
  free();
});

/** Takes charge of `pointer`: `destroy` runs when `free` is called, or after `owner` was collected. `destroy` must not hold `owner`. */
export function ownNativeObject(owner: object, pointer: number, destroy: (pointer: number) => void): NativeObject {
  let live = true;
  const free = (): void => {
    if (!live) return;
    live = false;
    destroy(pointer);
  };
  const token = {};
  abandoned.register(owner, free, token);
  return {
    pointer,
    free() {
      abandoned.unregister(token);
      free();
    },
  };
}
