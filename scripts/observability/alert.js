// One alert, and what several of them ask.
export const alert = (name, severity, expr, wait, summary, description) => ({
  alert: name,
  severity,
  expr,
  for: wait,
  summary,
  description,
});

/**
 * By how much a counter has grown. What a process has counted before its first scrape is growth as well: `increase` alone does
 * not see what happens as a gateway starts.
 */
export const grown = (series, minutes) =>
  `(increase(${series}[${minutes}m]) > 0 or (${series} > 0 and on (instance, job) time() - process_start_time_seconds < ${minutes} * 60))`;
