// The routes that tools of one set declare, in the order in which they are tried.
import type { ToolRoute } from '../../../contract/tool/tool-route.ts';
import type { ToolSpec } from '../../../contract/tool/tool-spec.ts';
import {
  comparePatterns,
  matchPattern,
  parsePattern,
  type PathPattern,
} from '../../../lib/http-route/route-pattern.ts';

export interface FoundRoute {
  readonly spec: ToolSpec;
  readonly route: ToolRoute;
  /** By argument. */
  readonly params: ReadonlyMap<string, string>;
}

interface Row {
  readonly spec: ToolSpec;
  readonly route: ToolRoute;
  readonly pattern: PathPattern;
}

export class RouteTable {
  readonly #rows: readonly Row[];

  constructor(specs: readonly ToolSpec[]) {
    const rows = specs.flatMap((spec) =>
      (spec.routes ?? []).map((route) => ({ spec, route, pattern: parsePattern(route.path) })),
    );
    this.#rows = rows.toSorted((a, b) => comparePatterns(a.pattern, b.pattern));
  }

  /** What takes the path, by any method; the first of a method is the one that serves it. */
  find(steps: readonly string[]): readonly FoundRoute[] {
    return this.#rows.flatMap(({ spec, route, pattern }) => {
      const params = matchPattern(pattern, steps);
      return params === undefined ? [] : [{ spec, route, params }];
    });
  }
}
