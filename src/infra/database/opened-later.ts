// OpenedLater: an adapter that is there at once, in front of one that takes time to open or is perhaps never needed.

/** Every member is a method that returns a promise, so nobody can tell when the real one came. */
export type Deferrable<T> = {
  readonly [Name in keyof T]: T[Name] extends (...args: never[]) => Promise<unknown> ? T[Name] : never;
};

/**
 * What others look for in any object: whoever awaits it, and Nest in what it provides. To find a method there would open
 * the real one for nothing.
 */
const NOT_METHODS: ReadonlySet<PropertyKey> = new Set([
  'then',
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
]);

/** Each call waits for `open`, which is asked each time: it decides whether a failure is tried anew. */
export function openedLater<T extends Deferrable<T>>(open: () => Promise<T>): T {
  const methods = new Map<PropertyKey, (...args: unknown[]) => Promise<unknown>>();
  return new Proxy({} as T, {
    get(_target, name) {
      if (NOT_METHODS.has(name)) return undefined;
      let method = methods.get(name);
      if (method === undefined) {
        method = async (...args) => {
          const opened = (await open()) as Record<PropertyKey, (...given: unknown[]) => Promise<unknown>>;
          return opened[name]?.(...args);
        };
        methods.set(name, method);
      }
      return method;
    },
  });
}
