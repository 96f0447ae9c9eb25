// TaskResults: tasks/result of 2025-11-25: waits for a task's end, and tells meanwhile what it says and what it needs of the client.
import { ProtocolError } from '@modelcontextprotocol/server';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { Followed } from '../../../calls/follow/follow-call.ts';
import { shuttingDown } from '../../../contract/call/failure.ts';
import type { CallEvent, Emit } from '../../../contract/call/tool-call.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { questionOf, type AskedQuestion, type ClientQuestions } from '../tools/client-questions.ts';
import type { Result } from '../tools/write-tool-result.ts';
import { approvalUrl, isOver, statusOf } from './task-fields.ts';
import { calledForOf, type TaskParams } from './task-params.ts';
import { principalOf, type TaskAsker, type Tasks } from './tasks.ts';

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

export interface TaskResultsDeps {
  readonly tasks: Tasks;
  readonly calls: Pick<AsyncCalls, 'follow'>;
  readonly questions: ClientQuestions;
  readonly authenticator: Authenticator;
}

export class TaskResults {
  readonly #deps: TaskResultsDeps;

  constructor(deps: TaskResultsDeps) {
    this.#deps = deps;
  }

  /** Throws ToolFailure, and ProtocolError where the call ended in one. */
  async get(params: TaskParams, asker: TaskAsker, emit: Emit | undefined): Promise<Result> {
    const { tasks } = this.#deps;
    const call = await tasks.asked(params, asker);
    const ended = isOver(call, 'legacy') ? call : await this.#ended(call, params, asker, emit);
    // Nobody waits for it any more.
    if (ended === undefined) return {};
    const answer = await tasks.answerOf(ended, 'legacy');
    if (answer.kind === 'error') throw new ProtocolError(answer.code, answer.message, answer.data);
    asker.exchange.paste(answer.fields);
    return { _meta: { ...answer.meta, ...relatedTo(ended) } };
  }

  async #ended(
    call: StoredCall,
    params: TaskParams,
    asker: TaskAsker,
    emit: Emit | undefined,
  ): Promise<StoredCall | undefined> {
    const { exchange } = asker;
    const gone = new AbortController();
    exchange.whenGone(() => gone.abort());
    const of = calledForOf(params, exchange);
    const followed = await this.#deps.calls.follow(principalOf(exchange), call.id, 0, gone.signal, of);
    // The stream is open from here on, and kept alive.
    this.#tell(call, asker);
    const asked = this.#ask(call, asker);
    try {
      for await (const news of followed) {
        asked?.complete();
        const ended = await this.#heard(news, asker, emit);
        if (ended !== undefined) return ended;
      }
      exchange.endWithout();
      return undefined;
    } finally {
      asked?.withdraw();
    }
  }

  async #heard(news: Followed, asker: TaskAsker, emit: Emit | undefined): Promise<StoredCall | undefined> {
    const { environment } = asker.exchange.asked;
    // A credential that was withdrawn meanwhile hears nothing more.
    await this.#deps.authenticator.authenticate(environment.credential, environment.traced.tenantId);
    if (news.kind === 'reconnect') throw shuttingDown();
    if (news.kind === 'event') {
      const { kind, data } = news.event;
      emit?.({ kind, ...data } as unknown as CallEvent);
      return undefined;
    }
    this.#tell(news.call, asker);
    return news.call;
  }

  #ask(call: StoredCall, asker: TaskAsker): AskedQuestion | undefined {
    const { tasks, questions } = this.#deps;
    const terms = tasks.terms(asker);
    if (call.approval === undefined || statusOf(call, terms, false) !== 'input_required') return undefined;
    const { id } = call.approval;
    const { exchange } = asker;
    const url = approvalUrl(id, terms);
    const asked = questions.ask(exchange, { id, message: questionOf(call.tool), url, meta: relatedTo(call) });
    const shown = async () => {
      await tasks.shown(principalOf(exchange), call, await asked.action);
      this.#tell(await tasks.own(principalOf(exchange), call.id, {}), asker);
    };
    // The decision is what is waited for: it comes all the same.
    shown().catch(() => undefined);
    return onceComplete(asked);
  }

  #tell(call: StoredCall, asker: TaskAsker): void {
    const params = { ...this.#deps.tasks.fields(call, asker) };
    asker.exchange.notify({ jsonrpc: '2.0', method: 'notifications/tasks/status', params });
  }
}

/** The first news of a call that waited for a decision say that there is one. */
function onceComplete(asked: AskedQuestion): AskedQuestion {
  let isComplete = false;
  return {
    ...asked,
    complete: () => {
      if (!isComplete) asked.complete();
      isComplete = true;
    },
  };
}

function relatedTo({ id }: StoredCall) {
  return { [RELATED_TASK]: { taskId: id } };
}
