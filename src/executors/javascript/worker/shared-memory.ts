// Shared memory that handlers make, counted where the host process can read it at any time: V8 counts it to no thread.
import type { SharedMemoryMeter } from '../threads/messages.ts';

/** What is counted of WebAssembly, which Node has and its types lack. */
interface WasmMemory {
  readonly buffer: ArrayBufferLike;
}
interface Wasm {
  Memory: new (descriptor?: { readonly maximum?: number }) => WasmMemory;
}

const KIB = 1024;
const WASM_PAGE = 64 * KIB;
const Shared = SharedArrayBuffer;
const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly: Wasm };

/** What is made from now on through the global constructors counts as all that it may grow to, until it is collected. */
export function countSharedMemory(meter: SharedMemoryMeter): void {
  const { add } = Atomics;
  const collected = new FinalizationRegistry<number>((kib) => void add(meter, 0, -kib));
  const count = (made: object, bytes: number) => {
    const kib = Math.ceil(bytes / KIB);
    add(meter, 0, kib);
    collected.register(made, kib);
  };
  globalThis.SharedArrayBuffer = watched(Shared, (made) => count(made, made.maxByteLength));
  keepWithTheirBuffers(wasm.Memory);
  // One that is shared says how large it may become.
  wasm.Memory = watched(wasm.Memory, (made, [described]) => {
    if (made.buffer instanceof Shared) count(made, (described?.maximum ?? 0) * WASM_PAGE);
  });
}

/** A memory is not collected, and so counts, while somebody has a buffer of it. */
function keepWithTheirBuffers({ prototype }: Wasm['Memory']): void {
  const memories = new WeakMap<object, WasmMemory>();
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'buffer');
  Object.defineProperty(prototype, 'buffer', {
    get(this: WasmMemory) {
      const buffer = descriptor?.get?.call(this) as ArrayBufferLike;
      if (buffer instanceof Shared) memories.set(buffer, this);
      return buffer;
    },
  });
}

/** The same constructor to whoever looks, also by way of what it has made. */
function watched<C extends new (...given: never[]) => object>(
  constructor: C,
  onMade: (made: InstanceType<C>, given: ConstructorParameters<C>) => void,
): C {
  const proxy: C = new Proxy(constructor, {
    construct(target, given: ConstructorParameters<C>, newTarget) {
      const made = Reflect.construct(target, given, newTarget === proxy ? target : newTarget) as object;
      onMade(made as InstanceType<C>, given);
      return made;
    },
  });
  Object.defineProperty(constructor.prototype, 'constructor', { value: proxy });
  return proxy;
}
