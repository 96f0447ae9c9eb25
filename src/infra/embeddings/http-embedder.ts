// HttpEmbedder: vectors from a service that speaks as OpenAI's embeddings do. What it answers is checked before anybody computes with it.
import { egressOf } from '../../lib/egress/egress.ts';
import { within } from '../../lib/timers/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Embedder } from '../../ports/egress/embedder.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Counter, Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';
import type { EmbeddingSettings } from '../../settings/embedding-settings.ts';
import { unitVector } from './unit-vector.ts';

interface Needs {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** 8,192 numbers of 24 characters take two fifths of it, and reading it holds nobody up, whatever else it is. */
const MOST_BYTES = 512 * 1024;
/** After so many failures in a row it is left alone for a while: no call waits for a service that is away. */
const FAILURES_IN_A_ROW = 3;
const LEFT_ALONE_MS = 10_000;
/** What services say of one text: that it has too many tokens, say. Anybody can write such a text, and others have none of it. */
const OF_THE_TEXT: ReadonlySet<number> = new Set([400, 413, 422]);
const SAID_AGAIN_MS = 60_000;

class TextRefused extends Error {
  constructor(status: number) {
    super(`the embedding service does not take this text: HTTP ${status}`);
    this.name = 'TextRefused';
  }
}

export const NO_EMBEDDER: Embedder = {
  model: undefined,
  minSimilarity: 1,
  embed: () => Promise.reject(new Error('no embedding service is set')),
};

export class HttpEmbedder implements Embedder {
  readonly model: string;
  readonly minSimilarity: number;
  readonly #settings: EmbeddingSettings;
  readonly #url: URL;
  readonly #needs: Needs;
  readonly #requests: (outcome: string) => Counter;
  #failures = 0;
  #leftAloneUntil = 0;
  #quietUntil = 0;

  constructor(settings: EmbeddingSettings, needs: Needs) {
    const { model, dimensions } = settings;
    // Vectors of another length are another model's, as far as comparing goes.
    this.model = dimensions === undefined ? model : `${model}/${dimensions}`;
    this.minSimilarity = settings.min_similarity;
    this.#settings = settings;
    this.#url = new URL(settings.url);
    this.#needs = needs;
    const counter = needs.metrics.counter(TOOLS_SERIES.ute_embedding_requests_total);
    this.#requests = (outcome) => counter.with(outcome);
  }

  async embed(text: string, signal: AbortSignal): Promise<readonly number[]> {
    if (this.#needs.clock.now() < this.#leftAloneUntil) {
      this.#requests('left_out').add();
      throw new Error('the embedding service failed just now, and is not asked again yet');
    }
    try {
      const limit = { ms: this.#settings.timeout_ms, signal };
      const vector = await within(this.#needs.clock, limit, (time) => this.#ask(text, time));
      this.#failures = 0;
      this.#requests('ok').add();
      return vector;
    } catch (error) {
      // Whoever went away says nothing about the service.
      if (!signal.aborted) this.#failed(error);
      throw error;
    }
  }

  async #ask(text: string, signal: AbortSignal): Promise<readonly number[]> {
    const { model, dimensions, api_key: key, max_characters: most } = this.#settings;
    const { status, body } = await this.#needs.http.request({
      method: 'POST',
      origin: this.#url.origin,
      path: this.#url.pathname + this.#url.search,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'unified-tool-executor',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model,
        input: text.slice(0, most).toWellFormed(),
        encoding_format: 'float',
        ...(dimensions !== undefined && { dimensions }),
      }),
      egress: egressOf(this.#settings, this.#url),
      maxResponseBytes: MOST_BYTES,
      signal,
    });
    if (OF_THE_TEXT.has(status)) throw new TextRefused(status);
    if (status !== 200) throw new Error(`the embedding service answered with HTTP ${status}`);
    return unitVector(body.toString('utf8'), dimensions);
  }

  #failed(error: unknown): void {
    if (error instanceof TextRefused) return this.#refused(error);
    this.#requests('failed').add();
    this.#failures += 1;
    if (this.#failures % FAILURES_IN_A_ROW !== 0) return;
    this.#leftAloneUntil = this.#needs.clock.now() + LEFT_ALONE_MS;
    this.#needs.log.warn(
      { url: this.#settings.url, err: error },
      `The embedding service failed ${FAILURES_IN_A_ROW} times in a row: searches go by words alone, and it is asked again in ${LEFT_ALONE_MS / 1_000} s`,
    );
  }
  /** Where it refuses every text, it is the settings that are wrong: that is for the operator to see. */
  #refused(error: TextRefused): void {
    this.#requests('refused').add();
    const now = this.#needs.clock.now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + SAID_AGAIN_MS;
    this.#needs.log.warn(
      { url: this.#settings.url, err: error },
      'The embedding service refused a text, which is searched by words alone. If it refuses all of them, see model and dimensions; if long ones, max_characters',
    );
  }
}
