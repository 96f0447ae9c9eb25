// Starts the small weather server that the demo's http tool calls, and tells the tools file where it listens.

export interface DemoUpstream {
  readonly url: string;
  close(): Promise<void>;
}

const MODULE = new URL('../../../tools/demo-upstream/server.js', import.meta.url);

/** What config/tools.yaml reads as `${env:…}`: set by the gateway itself when it starts the demo server. */
const DEMO_URL_VARIABLE = 'UTE_DEMO_UPSTREAM_URL';

/** For whoever loads tools without serving them: which port it would be does not matter then. */
export function assumeDemoUpstream(): void {
  process.env[DEMO_URL_VARIABLE] ??= 'http://127.0.0.1:49152';
}

/** Sets UTE_DEMO_UPSTREAM_URL, which config/tools.yaml reads as `${env:UTE_DEMO_UPSTREAM_URL}`. */
export async function startDemoUpstream(): Promise<DemoUpstream> {
  const demo = (await import(MODULE.href)) as { startDemoUpstream(port: number): Promise<DemoUpstream> };
  const upstream = await demo.startDemoUpstream(0);
  process.env[DEMO_URL_VARIABLE] = upstream.url;
  return upstream;
}
