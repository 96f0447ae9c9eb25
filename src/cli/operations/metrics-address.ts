// Where `ute diagnose` finds the numbers of the gateway it asks: as it is told, or as the gateway itself says.

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** An address that stands for all of its machine's. */
const ANY_HOST: readonly string[] = ['0.0.0.0', '[::]'];

const SAY_IT = '--metrics-url says where they are';

/** `reason` names no host: it is part of the report. */
export type MetricsAddress = { readonly url: string } | { readonly reason: string };

/** `told`: as the gateway listens, from its status; no string where there is none. `gateway`: where it was asked. */
export function metricsAddress(given: string | undefined, told: unknown, gateway: URL): MetricsAddress {
  if (given !== undefined) return { url: given };
  if (typeof told !== 'string') return { reason: `the gateway did not say where they are: ${SAY_IT}` };
  const url = URL.parse(told);
  if (url?.protocol !== 'http:') return { reason: `the gateway says where they are by no URL: ${SAY_IT}` };
  if (ANY_HOST.includes(url.hostname)) url.hostname = gateway.hostname;
  // Here, that address would be another gateway's, or nobody's.
  else if (LOOPBACK.test(url.hostname) && !LOOPBACK.test(gateway.hostname))
    return {
      reason: `the gateway serves them to its own machine alone, on port ${url.port}: ${SAY_IT} once they are reached from here`,
    };
  return { url: url.href };
}
