// authorization: does the credential hold what this tool asks for. The tool's half of auth: see docs/adr/0002.
import { z } from 'zod';
import type { Extension, ExtensionPlugin } from '../../contract/plugin.ts';
import { holds } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';

const optionsSchema = z.strictObject({});

export const authorization: ExtensionPlugin<z.infer<typeof optionsSchema>, object> = {
  name: 'authorization',
  summary: 'Checks the permissions that a tool’s metadata names.',
  optionsSchema,
  create: () => createAuthorization(),
};

function createAuthorization(): Extension<object> {
  return {
    stage: 'tool',
    onFailure: 'deny',
    deferred: 'both',
    appliesTo: (fn) => fn.spec.metadata.permissions.length > 0,
    around(call, next) {
      const needed = call.function?.spec.metadata.permissions ?? [];
      const missing = needed.filter(
        (permission) => call.principal === undefined || !holds(call.principal, permission),
      );
      if (missing.length === 0) return next(call);
      throw new ToolFailure(
        'PERMISSION_DENIED',
        `This tool needs permissions that the credential does not hold: ${missing.join(', ')}.`,
        {
          reason: 'PERMISSION_MISSING',
          details: { permissions: missing },
        },
      );
    },
  };
}
