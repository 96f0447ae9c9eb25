// The web-page executor: fetches the page that an argument names, as text for a model. Whatever is on it, anybody may have written.
import { isJsonObject } from '../../contract/json.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { egressFault } from '../../lib/egress/egress.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Labelled, Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';
import { fetchPage, urlOf, type FetchNeeds } from './fetch-page.ts';
import { optionsSchema, type PageOptions } from './options.ts';
import { hostRefused } from './page-failures.ts';
import { RobotsRules } from './robots-rules.ts';
import { pageSettingsSchema, type PageSettings } from './settings.ts';
import { ReaderThreads } from './threads/reader-threads.ts';

export interface WebPageNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly settings: PageSettings;
}

export const webPageExecutor: ExecutorPlugin<PageOptions, WebPageNeeds> = {
  name: 'web-page',
  summary:
    'Fetches the page of the web that an argument names, as Markdown: guarded at each redirect, bounded, by robots.txt.',
  optionsSchema,
  settingsSchema: pageSettingsSchema,
  create: (needs) => new WebPageExecutor(needs),
};

class WebPageExecutor implements Executor<PageOptions> {
  readonly #needs: WebPageNeeds;
  readonly #readers: ReaderThreads;
  readonly #pages: Labelled<Counter>;

  constructor(needs: WebPageNeeds) {
    this.#needs = needs;
    this.#readers = new ReaderThreads(needs);
    this.#pages = needs.metrics.counter(TOOLS_SERIES.ute_web_pages_total);
  }

  prepare({ function: fn, options }: ExecutorTarget<PageOptions>): PreparedFunction {
    const { properties } = fn.inputSchema;
    if (!isJsonObject(properties) || !Object.hasOwn(properties, 'url'))
      throw new Error('The input schema has no property "url", which names the page.');
    const needs = this.#fetchNeeds(options);
    return {
      execute: async (call) => {
        try {
          const result = await fetchPage(call, needs);
          this.#pages.with('read').add();
          return result;
        } catch (error) {
          this.#pages.with(outcomeOf(error)).add();
          throw error;
        }
      },
      render: ({ arguments: args }) => ({ method: 'GET', url: urlOf(args).href }),
      yieldsPlainJson: true,
    };
  }

  async close(): Promise<void> {
    await this.#readers.close();
  }

  #fetchNeeds(options: PageOptions): FetchNeeds {
    const { http, clock, settings } = this.#needs;
    const egress = {
      allowHosts: options.allow_hosts ?? [],
      allowPorts: [...(options.allow_ports ?? []), ...settings.allowPorts],
      allowPrivate: [...(options.allow_private ?? []), ...settings.allowPrivate],
    };
    const visitor = { http, egress, userAgent: settings.userAgent };
    const checkHost = hostCheck(settings);
    const readers = this.#readers;
    const robots =
      options.robots === 'ignore' ? undefined : new RobotsRules({ visitor, readers, clock, checkHost });
    return { clock, visitor, readers, options, robots, checkHost };
  }
}

/** What gateway.yaml says of hosts, for every hop. Ports and addresses are the egress policy's. */
function hostCheck({ allowHosts, denyHosts }: PageSettings): (url: URL) => void {
  return (url) => {
    const isOutside = allowHosts !== undefined && egressFault({ allowHosts }, url) === 'host';
    const isDenied = denyHosts.length > 0 && egressFault({ allowHosts: denyHosts }, url) !== 'host';
    if (isOutside || isDenied) throw hostRefused(url.host);
  };
}

const OUTCOMES: { readonly [reason: string]: string } = {
  PAGE_NOT_TEXT: 'not_text',
  PAGE_TOO_COMPLEX: 'too_complex',
  ROBOTS_DENIED: 'robots_denied',
  ROBOTS_UNREADABLE: 'robots_unreadable',
  REDIRECT_REFUSED: 'redirect_refused',
  EGRESS_DENIED: 'egress_denied',
  UNSAFE_ARGUMENT: 'url_refused',
  COMPRESSION_RATIO: 'too_large',
};

function outcomeOf(error: unknown): string {
  if (!(error instanceof ToolFailure)) return 'failed';
  if (error.type === 'OUTPUT_TOO_LARGE') return 'too_large';
  const known = OUTCOMES[error.reason];
  if (known !== undefined) return known;
  return error.details['status'] === undefined ? 'failed' : 'http_error';
}
