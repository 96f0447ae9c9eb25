// untrusted-result: says in the envelope of every answer that what the tool says is data, and no instructions.
import { z } from 'zod';
import type { ExtensionPlugin, ToolExtension } from '../../contract/plugin.ts';

const optionsSchema = z.strictObject({
  mark: z
    .boolean()
    .default(false)
    .describe(
      'Whether answers of the tool have meta.untrusted: for tools that bring in what anybody may have written.',
    ),
});
type UntrustedResultOptions = z.infer<typeof optionsSchema>;

export const untrustedResult: ExtensionPlugin<UntrustedResultOptions, object> = {
  name: 'untrusted-result',
  summary: 'Marks what a tool says as text that is not trusted.',
  optionsSchema,
  create: () => createUntrustedResult(),
};

function createUntrustedResult(): ToolExtension<UntrustedResultOptions> {
  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['run'],
    prepare(_fn, { mark }) {
      if (!mark) return undefined;
      return function markUntrusted(call, next) {
        call.progress.untrusted = true;
        return next(call);
      };
    },
  };
}
