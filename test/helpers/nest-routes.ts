// Every route that the doors serve, as Nest knows them: a table that leaves one out is found out.
import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import { ApiModule } from '../../src/api/api.module.ts';

interface Controller {
  readonly prototype: object;
}

/** `GET /v1/calls/:id` …, and what is served by gRPC as `rpc Name`. */
export function servedRoutes(): readonly string[] {
  const module = ApiModule.register({
    gateway: { module: ApiModule },
    readiness: {
      notReady: () => undefined,
      degraded: () => ({}),
      notes: () => ({}),
      metricsUrl: () => undefined,
      parts: () => ({}),
      sandbox: () => undefined,
      executors: () => ({}),
    },
    grpcHealth: { onDrain: () => () => undefined } as never,
    docs: true,
    mcp: true,
    streams: true,
  });
  return ((module.controllers ?? []) as readonly Controller[]).flatMap(routesOf).toSorted();
}

function routesOf(controller: Controller): readonly string[] {
  const base = String(Reflect.getMetadata('path', controller) ?? '/');
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler: unknown = Reflect.get(controller.prototype, name);
    if (typeof handler !== 'function' || name === 'constructor') return [];
    const pattern: unknown = Reflect.getMetadata('microservices:pattern', handler);
    if (Array.isArray(pattern)) return pattern.map((each: { rpc: string }) => `rpc ${each.rpc}`);
    const path: unknown = Reflect.getMetadata('path', handler);
    if (typeof path !== 'string') return [];
    const method = RequestMethod[Number(Reflect.getMetadata('method', handler))];
    return [`${method} ${`/${base}/${path}`.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1')}`];
  });
}
