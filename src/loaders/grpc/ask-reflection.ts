// Server reflection: what an upstream says of itself, asked in v1 and, where it has that alone, in v1alpha; bounded in files,
// bytes and questions, as nobody vouches for what answers.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { BoundedFields, FieldsError } from '../../lib/grpc/message/bounded-fields.ts';
import { GrpcStatusError, type GrpcUpstream } from '../../ports/egress/grpc-upstreams.ts';

const VERSIONS = ['v1', 'v1alpha'] as const;
const UNIMPLEMENTED = 12;
const NOT_FOUND = 5;

const MOST_SERVICES = 1_000;
const MOST_LISTED = 10_000;
const MOST_FILES = 2_000;
const MOST_BYTES = 32 << 20;
/** Numbers of what a question asks for. */
const [FILE_BY_NAME, FILE_CONTAINING_SYMBOL, LIST_SERVICES] = [3, 4, 7];
/** And of what an answer is. */
const [FILES, SERVICES, FAULT] = [4, 6, 7];
/** Of a FileDescriptorProto: its name, and what it imports. Of a FileDescriptorSet: its files. */
const [NAME, IMPORTS, SET_FILES] = [1, 3, 1];
const MOST_IMPORTS = 10_000;

export interface Asking {
  readonly upstream: GrpcUpstream;
  readonly metadata: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The upstream says that it does not, or not so. */
export class ReflectionError extends Error {}

/**
 * A FileDescriptorSet of all services that `isWanted`, with all that they import, as the upstream has written its files: to be
 * read where that may take its time. Empty: there is no such service. Rejects with ReflectionError, or as the upstream's call
 * does.
 */
export async function askReflection(
  asking: Asking,
  isWanted: (service: string) => boolean,
): Promise<Uint8Array> {
  for (const version of VERSIONS) {
    try {
      return await new Reflection(asking, version).files(isWanted);
    } catch (error) {
      if (!(error instanceof GrpcStatusError) || error.code !== UNIMPLEMENTED) throw error;
    }
  }
  throw new ReflectionError('it has no server reflection, neither v1 nor v1alpha');
}

interface Answer {
  readonly message: Uint8Array;
  readonly fields: BoundedFields;
}

class Reflection {
  readonly #asking: Asking;
  readonly #path: string;
  /** By name, as they came. */
  readonly #found = new Map<string, Uint8Array>();
  /** Names of files that others import and that have not come yet. */
  readonly #missing = new Set<string>();
  #bytes = 0;

  constructor(asking: Asking, version: string) {
    this.#asking = asking;
    this.#path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
  }

  async files(isWanted: (service: string) => boolean): Promise<Uint8Array> {
    for (const name of await this.#services(isWanted))
      this.#take(await this.#ask(FILE_CONTAINING_SYMBOL, name));
    for (const name of this.#missing) {
      if (this.#found.has(name)) continue;
      this.#take(await this.#ask(FILE_BY_NAME, name));
      if (!this.#found.has(name))
        throw new ReflectionError(`it does not give the file ${shown(name)}, which others import`);
    }
    const set = new BinaryWriter();
    // The same files are the same set, in whatever order they were found.
    for (const [, file] of [...this.#found].toSorted(([one], [other]) => (one < other ? -1 : 1)))
      set.tag(SET_FILES, WireType.LengthDelimited).bytes(file);
    return set.finish();
  }

  async #services(isWanted: (service: string) => boolean): Promise<readonly string[]> {
    const { message, fields } = await this.#ask(LIST_SERVICES, '');
    const listed = orRefused(() => fields.bytes(message, SERVICES).flatMap((each) => fields.bytes(each, 1)));
    if (listed.length > MOST_LISTED) throw new ReflectionError(`it lists more than ${MOST_LISTED} services`);
    const names = orRefused(() => listed.map((each) => fields.text(each, NAME)));
    const wanted = [...new Set(names)].filter(isWanted);
    if (wanted.length > MOST_SERVICES)
      throw new ReflectionError(`it lists more than ${MOST_SERVICES} services that are asked for`);
    return wanted;
  }

  #take({ message, fields }: Answer): void {
    const files = orRefused(() => fields.bytes(message, FILES).flatMap((each) => fields.bytes(each, 1)));
    for (const file of files) {
      this.#bytes += file.length;
      if (this.#bytes > MOST_BYTES || this.#found.size >= MOST_FILES)
        throw new ReflectionError(
          `it gives more than ${MOST_FILES} files or ${MOST_BYTES} bytes of descriptors`,
        );
      this.#found.set(
        orRefused(() => fields.text(file, NAME)),
        file,
      );
      for (const name of orRefused(() => fields.texts(file, IMPORTS)))
        if (!name.startsWith('google/protobuf/')) this.#missing.add(name);
      if (this.#missing.size > MOST_IMPORTS)
        throw new ReflectionError(`its files import more than ${MOST_IMPORTS} others`);
    }
  }

  async #ask(kind: number, text: string): Promise<Answer> {
    const { upstream, metadata, timeoutMs, signal } = this.#asking;
    const question = new BinaryWriter().tag(kind, WireType.LengthDelimited).string(text).finish();
    let message: Uint8Array | undefined;
    const onMessage = (bytes: Uint8Array) => void (message ??= bytes);
    await upstream.call({ path: this.#path, message: question, metadata, timeoutMs, signal, onMessage });
    if (message === undefined)
      throw new ReflectionError('it ends without an answer to a question of reflection');
    const answer = { message, fields: new BoundedFields() };
    orRefused(() => throwFault(answer, text));
    return answer;
  }
}

/** The upstream's own error, as an answer to what was asked. */
function throwFault({ message, fields }: Answer, asked: string): void {
  const [fault] = fields.bytes(message, FAULT);
  if (fault === undefined) return;
  const code = fields.number(fault, 1);
  if (code === UNIMPLEMENTED) throw new GrpcStatusError(code, fields.text(fault, 2), undefined);
  throw new ReflectionError(
    `it ${code === NOT_FOUND ? 'does not know' : 'gives an error for'} ${shown(asked)}`,
  );
}

function orRefused<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FieldsError)) throw error;
    throw new ReflectionError(`its answer to a question of reflection cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}
