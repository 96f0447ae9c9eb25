// @Serves puts a declared route on its handler, and holds the handler to the declaration.
import {
  applyDecorators,
  createParamDecorator,
  HttpCode,
  RequestMapping,
  RequestMethod,
  Res,
  SetMetadata,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readAsked, type Asked } from './asked.ts';
import { fastifyPath, type AnswerOf, type Route } from './route.ts';
import { admittedOf } from '../management/admitted.ts';

const ROUTE = 'rest:route';

type Handler<R extends Route> = (
  asked: Asked<R>,
  reply: FastifyReply,
) => R extends { readonly sendsItself: true } ? Promise<void> | void : Promise<AnswerOf<R>> | AnswerOf<R>;

/** Of a route that asks for a credential: its handler is called as `handler(asked, reply)`. */
export function Serves<R extends Route>(route: R) {
  return <H extends Handler<R>>(
    target: object,
    name: string,
    descriptor: TypedPropertyDescriptor<H>,
  ): void => {
    const read = createParamDecorator((_data: unknown, context: ExecutionContext) => {
      const request = context.switchToHttp().getRequest<FastifyRequest>();
      return readAsked(route, request, admittedOf(request));
    });
    read()(target, name, 0);
    Res({ passthrough: route.sendsItself !== true })(target, name, 1);
    ServesByHand(route)(target, name, descriptor as PropertyDescriptor);
  };
}

/** Of a route whose handler reads the request itself: calls, probes, pages. */
export function ServesByHand(route: Route): MethodDecorator {
  const method = RequestMethod[route.method.toUpperCase() as keyof typeof RequestMethod];
  return applyDecorators(
    RequestMapping({ path: fastifyPath(route), method }),
    HttpCode(Number(Object.keys(route.answers)[0])),
    SetMetadata(ROUTE, route),
  );
}

/** What a class of handlers serves, in their order. */
export function routesOf(controller: { readonly prototype: object }): readonly Route[] {
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const declared = routeOf(Reflect.get(controller.prototype, name));
    return declared === undefined ? [] : [declared];
  });
}

export function routeOf(handler: unknown): Route | undefined {
  return typeof handler === 'function' ? Reflect.getMetadata(ROUTE, handler) : undefined;
}
