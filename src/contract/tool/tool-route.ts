// ToolRoute: a path of REST that a tool is served at besides its own, as its declaration says.

export const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type RouteMethod = (typeof ROUTE_METHODS)[number];

export interface ToolRoute {
  readonly method: RouteMethod;
  /** `/orders/{id}`: what stands in braces is an argument. */
  readonly path: string;
  /** What a success is answered with: the envelope, or its data alone. */
  readonly answer: 'envelope' | 'data';
  readonly deprecated?: RouteDeprecation;
}

export interface RouteDeprecation {
  /** ISO 8601 date. */
  readonly since: string;
  /** The path to go to instead. Left out: the tool's own. */
  readonly successor?: string;
}
