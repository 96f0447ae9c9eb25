// What reflection tells of the door's files: enough for a client that has nothing else.
import { loadSync } from '@grpc/proto-loader';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { describe, expect, it } from 'vitest';
import { withDescribedFiles } from './described-files.ts';
import { PROTO_DIR, PROTO_FILE } from './wire-types.ts';

interface DescribedFile {
  readonly name: string;
  readonly dependency: readonly string[];
  readonly messageType: readonly {
    readonly name: string;
    readonly field: readonly { name: string; typeName?: string }[];
  }[];
}

function describedFiles(): readonly DescribedFile[] {
  const definition = withDescribedFiles(loadSync(PROTO_FILE, { includeDirs: [PROTO_DIR] }));
  const entry = definition['unified_tool_executor.v1.ExecuteRequest'];
  if (entry === undefined || !('fileDescriptorProtos' in entry))
    throw new Error('ExecuteRequest is not described');
  const files = entry.fileDescriptorProtos as unknown as readonly Buffer[];
  return files.map((file) => descriptor.FileDescriptorProto.decode(file) as unknown as DescribedFile);
}

describe('withDescribedFiles', () => {
  it('every file that another one imports is described too', () => {
    const files = describedFiles();
    const names = files.map(({ name }) => name);
    expect(names).toContain(PROTO_FILE);
    expect(names).toContain('grpc/health/v1/health.proto');
    for (const imported of files.flatMap(({ dependency }) => dependency)) expect(names).toContain(imported);
  });

  it('types are named in full and fields as the proto spells them', () => {
    const messages = describedFiles().flatMap(({ messageType }) => messageType);
    const fields = messages.find(({ name }) => name === 'ExecuteRequest')?.field;
    expect(fields).toContainEqual(
      expect.objectContaining({ name: 'arguments', typeName: '.google.protobuf.Struct' }),
    );
    expect(fields).toContainEqual(expect.objectContaining({ name: 'arguments_json' }));
  });
});
