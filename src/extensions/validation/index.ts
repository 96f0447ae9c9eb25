// validation: arguments against the input schema before the tool runs, the result against the output schema after.
import { z } from 'zod';
import type { Extension, ExtensionPlugin } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { Clock } from '../../ports/clock.ts';
import { isLarge, nextTurn } from '../../lib/concurrency/in-slices.ts';
import { withClosedRoot } from './closed-root.ts';
import { fittingArguments } from './fitting-arguments.ts';
import { refuseWrongResult } from './refuse-wrong-result.ts';
import { ToolChecks } from './tool-checks.ts';

const optionsSchema = z.strictObject({
  output: z
    .enum(['enforce', 'off'])
    .default('enforce')
    .describe('Whether results are held to output_schema.'),
  undeclared_arguments: z
    .enum(['refuse', 'drop', 'allow'])
    .default('refuse')
    .describe(
      'What becomes of arguments that the tool does not declare, where its input_schema says neither additionalProperties nor unevaluatedProperties at its root: the call is refused, or they are dropped before the tool sees them, or they are passed on.',
    ),
});
type ValidationOptions = z.infer<typeof optionsSchema>;

interface Needs {
  readonly clock: Clock;
}

export const validation: ExtensionPlugin<ValidationOptions, Needs> = {
  name: 'validation',
  summary: 'Holds arguments to the input schema, fills in defaults, and holds results to the output schema.',
  optionsSchema,
  shape: (spec, options) => withClosedRoot(spec, options.undeclared_arguments),
  create: ({ clock }) => createValidation(new ToolChecks(clock)),
};

function createValidation(checksOf: ToolChecks): Extension<ValidationOptions> {
  return {
    stage: 'tool',
    onFailure: 'deny',
    deferred: 'both',
    async around(call, next, options) {
      const checks = checksOf.of(call.function as ToolFunction);
      const fitting = fittingArguments(call, checks);
      const args = fitting instanceof Promise ? await fitting : fitting;
      const response = await next(args === call.arguments ? call : { ...call, arguments: args });
      // Nothing has run where the call is a rehearsal, or only accepted.
      const hasRun = call.context.dryRun !== true && response.meta.acceptedAt === undefined;
      if (response.ok && checks.output !== undefined && options.output === 'enforce' && hasRun) {
        // Reading and writing it has taken this turn.
        if (isLarge(response.dataJson)) await nextTurn();
        const checked = refuseWrongResult(checks.output, response, call.signal);
        if (checked !== undefined) await checked;
      }
      return response;
    },
    close: () => checksOf.close(),
  };
}
