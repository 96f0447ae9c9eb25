import { describe, expect, it } from 'vitest';
import { loadSync } from '@grpc/proto-loader';
import { addReflection } from './reflection.ts';
import { PROTO_DIR } from './wire-types.ts';

const FILE = 'unified_tool_executor/v1/tool_executor_service.proto';

describe('reflection', () => {
  it('is served by both of its versions, and lists the services once it is asked', () => {
    const served = new Map<string, (call: unknown) => void>();
    addReflection(
      (definition, { ServerReflectionInfo: handler }) =>
        void served.set(
          definition['ServerReflectionInfo']?.path ?? '',
          handler as unknown as (call: unknown) => void,
        ),
      loadSync(FILE, { includeDirs: [PROTO_DIR] }),
    );
    expect([...served.keys()]).toEqual([
      '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
      '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
    ]);
    for (const handler of served.values()) {
      const answers: unknown[] = [];
      const asked = (event: string, listener: (message: unknown) => void) =>
        event === 'data' && listener({ messageRequest: 'listServices', listServices: '' });
      handler({ on: asked, write: (answer: unknown) => answers.push(answer) });
      expect(JSON.stringify(answers)).toContain('unified_tool_executor.v1.ToolExecutorService');
    }
  });
});
