// Server reflection: what an upstream says of itself, asked in v1 and, where it has that alone, in v1alpha; bounded in files,
// bytes and questions, as nobody vouches for what answers.
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { FileDescriptorProtoSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import { GrpcStatusError, type GrpcUpstream } from '../../ports/egress/grpc-upstreams.ts';

const VERSIONS = ['v1', 'v1alpha'] as const;
const UNIMPLEMENTED = 12;
const NOT_FOUND = 5;

const MOST_SERVICES = 1_000;
const MOST_FILES = 2_000;
const MOST_BYTES = 32 << 20;
/** Numbers of what a question asks for. */
const [FILE_BY_NAME, FILE_CONTAINING_SYMBOL, LIST_SERVICES] = [3, 4, 7];
/** And of what an answer is. */
const [FILES, SERVICES, FAULT] = [4, 6, 7];

export interface Asking {
  readonly upstream: GrpcUpstream;
  readonly metadata: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The upstream says that it does not, or not so. */
export class ReflectionError extends Error {}

/** The files of all services that `isWanted`, with all that they import. Rejects with ReflectionError, or as the upstream's call does. */
export async function askReflection(
  asking: Asking,
  isWanted: (service: string) => boolean,
): Promise<readonly FileDescriptorProto[]> {
  for (const version of VERSIONS) {
    try {
      return await new Reflection(asking, version).files(isWanted);
    } catch (error) {
      if (!(error instanceof GrpcStatusError) || error.code !== UNIMPLEMENTED) throw error;
    }
  }
  throw new ReflectionError('it has no server reflection, neither v1 nor v1alpha');
}

class Reflection {
  readonly #asking: Asking;
  readonly #path: string;
  readonly #found = new Map<string, FileDescriptorProto>();
  #bytes = 0;

  constructor(asking: Asking, version: string) {
    this.#asking = asking;
    this.#path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
  }

  async files(isWanted: (service: string) => boolean): Promise<readonly FileDescriptorProto[]> {
    const listed = await this.#ask(LIST_SERVICES, '');
    const names = (listed.get(SERVICES) ?? [])
      .flatMap((each) => fieldsOf(each, 1))
      .map((each) => textIn(each, 1));
    const wanted = [...new Set(names)].filter(isWanted);
    if (wanted.length > MOST_SERVICES)
      throw new ReflectionError(`it lists more than ${MOST_SERVICES} services`);
    for (const name of wanted) this.#take(await this.#ask(FILE_CONTAINING_SYMBOL, name));
    for (let missing = this.#missing(); missing.length > 0; missing = this.#missing())
      for (const name of missing) {
        if (this.#found.has(name)) continue;
        this.#take(await this.#ask(FILE_BY_NAME, name));
        if (!this.#found.has(name))
          throw new ReflectionError(
            `it does not give the file ${JSON.stringify(name.slice(0, 200))}, which others import`,
          );
      }
    return [...this.#found.values()];
  }

  #missing(): readonly string[] {
    const imported = [...this.#found.values()].flatMap(({ dependency }) => dependency);
    return [...new Set(imported)].filter(
      (name) => !this.#found.has(name) && !name.startsWith('google/protobuf/'),
    );
  }

  #take(answer: ReadonlyMap<number, readonly Uint8Array[]>): void {
    for (const bytes of (answer.get(FILES) ?? []).flatMap((each) => fieldsOf(each, 1))) {
      this.#bytes += bytes.length;
      if (this.#bytes > MOST_BYTES || this.#found.size >= MOST_FILES)
        throw new ReflectionError(
          `it gives more than ${MOST_FILES} files or ${MOST_BYTES} bytes of descriptors`,
        );
      const file = read(bytes);
      this.#found.set(file.name, file);
    }
  }

  /** By number: the fields of its answer. */
  async #ask(kind: number, text: string): Promise<ReadonlyMap<number, readonly Uint8Array[]>> {
    const { upstream, metadata, timeoutMs, signal } = this.#asking;
    const message = new BinaryWriter().tag(kind, WireType.LengthDelimited).string(text).finish();
    let answer: Uint8Array | undefined;
    const onMessage = (bytes: Uint8Array) => void (answer ??= bytes);
    await upstream.call({ path: this.#path, message, metadata, timeoutMs, signal, onMessage });
    if (answer === undefined)
      throw new ReflectionError('it ends without an answer to a question of reflection');
    const fields = readFields(answer);
    const [fault] = fields.get(FAULT) ?? [];
    if (fault === undefined) return fields;
    const code = numberIn(fault, 1);
    if (code === UNIMPLEMENTED) throw new GrpcStatusError(code, textIn(fault, 2), undefined);
    const what = code === NOT_FOUND ? 'does not know' : 'gives an error for';
    throw new ReflectionError(`it ${what} ${JSON.stringify(text.slice(0, 200))}`);
  }
}

function read(bytes: Uint8Array): FileDescriptorProto {
  try {
    return fromBinary(FileDescriptorProtoSchema, bytes);
  } catch (cause) {
    throw new ReflectionError('it gives a file that is no FileDescriptorProto', { cause });
  }
}

function readFields(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const found = new Map<number, Uint8Array[]>();
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (type !== WireType.LengthDelimited) reader.skip(type, number);
      else found.set(number, [...(found.get(number) ?? []), reader.bytes()]);
    }
  } catch (cause) {
    throw new ReflectionError('it answers a question of reflection with something else', { cause });
  }
  return found;
}

function fieldsOf(bytes: Uint8Array, wanted: number): readonly Uint8Array[] {
  return readFields(bytes).get(wanted) ?? [];
}

function textIn(bytes: Uint8Array, wanted: number): string {
  return Buffer.from(fieldsOf(bytes, wanted)[0] ?? []).toString('utf8');
}

function numberIn(bytes: Uint8Array, wanted: number): number {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === wanted && type === WireType.Varint) return reader.int32();
    reader.skip(type, number);
  }
  return 0;
}
