// authorization: does the credential hold what this tool asks for. The tool's half of auth: see docs/adr/0002.
import { z } from 'zod';
import type { ExtensionPlugin, ToolExtension } from '../../contract/plugin.ts';
import { holds } from '../../contract/call/principal.ts';
import { toolPermissionsMissing } from '../../contract/call/failure.ts';

const optionsSchema = z.strictObject({});

export const authorization: ExtensionPlugin<z.infer<typeof optionsSchema>, object> = {
  name: 'authorization',
  summary: 'Checks the permissions that a tool’s metadata names.',
  optionsSchema,
  create: () => createAuthorization(),
};

function createAuthorization(): ToolExtension<object> {
  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit', 'run'],
    explains: true,
    prepare({ spec }) {
      const { permissions: needed } = spec.metadata;
      if (needed.length === 0) return undefined;
      return function authorize(call, next) {
        const { principal } = call;
        const missing = needed.filter((each) => principal === undefined || !holds(principal, each));
        if (missing.length === 0) return next(call);
        throw toolPermissionsMissing(missing);
      };
    },
    shownTo({ spec }) {
      const { permissions: needed } = spec.metadata;
      if (needed.length === 0) return undefined;
      return ({ principal }) => needed.every((each) => holds(principal, each));
    },
  };
}
