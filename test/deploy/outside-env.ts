// The environment of somebody at a terminal: how a registry is reached stays, what concerns this run of tests goes.
const OWN = /^(?:UTE_|VITEST|NODE_ENV$|NODE_OPTIONS$)/;

export function outsideEnv(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name)));
}
