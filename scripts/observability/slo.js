// The objective, the ratios that are recorded for it, and the alerts that go off when its budget goes too fast.

/** Of the calls of a month, so many must not fail through a fault of the gateway. */
export const OBJECTIVE = 0.999;
const BUDGET = '0.001';

/** Installations that one Prometheus scrapes are told apart by these. */
export const OF = 'by (namespace, job)';

const WINDOWS = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'];

const failures = (window) => `sum ${OF} (rate(ute_gateway_failures_total[${window}]))`;
const calls = (window) => `sum ${OF} (rate(ute_tool_calls_total[${window}]))`;

/** Without a failure there is no series of failures: the ratio is 0 then, and where nobody calls there is none. */
export const RECORDED = WINDOWS.map((window) => ({
  record: `ute:gateway_failures:ratio_rate${window}`,
  expr: `(${failures(window)} or 0 * ${calls(window)}) / (${calls(window)} > 0)`,
}));

const burns = (factor, long, short) =>
  `ute:gateway_failures:ratio_rate${long} > ${factor} * ${BUDGET} and ute:gateway_failures:ratio_rate${short} > ${factor} * ${BUDGET}`;

const BURNT =
  'Calls fail through faults of the gateway itself; ute_gateway_failures_total has them by type and reason.';

const burn = (alert, severity, factor, long, short, budget) => ({
  alert,
  severity,
  expr: burns(factor, long, short),
  for: severity === 'page' ? '2m' : '15m',
  summary: `{{ $labels.job }}: ${budget}`,
  description: `${BURNT} Over ${long} it is {{ $value | humanizePercentage }} of all calls; the objective allows 0.1 %.`,
});

export const BURN_ALERTS = [
  burn('UteErrorBudgetBurnFast', 'page', 14.4, '1h', '5m', 'the error budget of a month is gone in two days'),
  burn(
    'UteErrorBudgetBurnMedium',
    'page',
    6,
    '6h',
    '30m',
    'the error budget of a month is gone in five days',
  ),
  burn('UteErrorBudgetBurnSlow', 'ticket', 3, '1d', '2h', 'the error budget of a month is gone in ten days'),
  burn('UteErrorBudgetBurnCreeping', 'ticket', 1, '3d', '6h', 'the error budget of this month will not last'),
];
