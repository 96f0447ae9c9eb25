// The reasons of results, composite tools, fallback and replay. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const RESULT_REASONS = {
  EXPRESSION_FAILED: row('PERMANENT', 'an expression of the tool cannot be evaluated on this value'),
  EXPRESSION_TOO_COSTLY: row('PERMANENT', 'an expression of the tool takes too much on this value'),
  FOR_EACH_NOT_A_LIST: row('PERMANENT', 'a step repeats over something that is no list'),
  FOR_EACH_TOO_LONG: row('PERMANENT', 'a step repeats over too long a list'),
  POLICY_TIMEOUT: row('TIMEOUT', 'the tool did not answer in the time that a policy rule gives the call: details.rule'),
  LATE: row('TIMEOUT', 'the tool did not answer in the time that its fallback allows'),
  NOT_RECORDED: row('NOT_FOUND', 'the recording that is replayed has no such call'),
  RESULT_BUDGET: row('OUTPUT_TOO_LARGE', 'the result cannot be cut to its budget at a whole item'),
  STEPS_TOO_LARGE: row('OUTPUT_TOO_LARGE', 'the results of the steps are too large together'),
  STEP_TOOL_NOT_FOUND: row('NOT_FOUND', 'a step calls a tool that is not there'),
  TOO_DEEP: row(['VALIDATION', 'OUTPUT_INVALID', 'OUTPUT_TOO_LARGE'], 'a value is nested too deep'),
  TOO_LONG: row('OUTPUT_TOO_LARGE', 'the result holds a name or a number that is too long'),
  TOO_MANY_NAMES: row('OUTPUT_TOO_LARGE', 'the result holds too many different names'),
  TOO_MANY_VALUES: row('OUTPUT_TOO_LARGE', 'the result holds too many values'),
} satisfies Readonly<Record<string, ReasonRow>>;
