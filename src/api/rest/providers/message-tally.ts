// MessageTally: counts and logs the messages of models that were answered, by provider.
import { isProviderName } from '../../../formats/messages/providers.ts';
import type { FinishReason } from '../../../formats/messages/model-message.ts';
import { CALLS_SERIES } from '../../../ports/telemetry/series/calls.ts';
import type { Counter, Labelled } from '../../../ports/telemetry/metrics.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { DoorTelemetry } from '../../tokens.ts';
import type { WrittenAnswers } from './write-answers.ts';

export interface AnsweredMessage extends WrittenAnswers {
  readonly provider: string;
  readonly finish: FinishReason;
  readonly calls: number;
  readonly durationMs: number;
}

export class MessageTally {
  readonly #log: Log;
  readonly #messages: Labelled<Counter>;
  readonly #cut: Labelled<Counter>;

  constructor({ log, metrics }: DoorTelemetry) {
    this.#log = log;
    this.#messages = metrics.counter(CALLS_SERIES.ute_provider_messages_total);
    this.#cut = metrics.counter(CALLS_SERIES.ute_provider_results_cut_total);
  }

  answered({ provider, finish, calls, failed, waiting, cut, durationMs }: AnsweredMessage): void {
    this.#messages.with(provider, finish).add();
    if (cut > 0) this.#cut.with(provider).add(cut);
    const fields = { provider, finish, calls, failed, waiting, cut, duration_ms: Math.round(durationMs) };
    this.#log.debug(fields, "the calls of a model's message were answered");
  }

  /** The path may name anything: no label does. */
  malformed(provider: string): void {
    this.#messages.with(isProviderName(provider) ? provider : 'unknown', 'malformed').add();
  }
}
