// A gateway with the pack `tasks`, and tools for what tasks run: what was asked of them is noted.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { eventually } from './eventually.ts';
import { request, sendTo, type Envelope, type RestTarget } from './rest-client.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';

export interface Asked {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly user?: string;
}

export interface Told {
  readonly type: string;
  readonly data: { readonly schedule_id?: string; readonly result: Envelope };
}

/** Shared with the handler of test/fixtures/tasks, in this process. */
declare global {
  var askedOfTasks: Asked[] | undefined;
}

export class TasksGateway {
  readonly gateway: RunningGateway;
  readonly asked: Asked[];
  readonly told: Told[];
  readonly #receiver: Server;

  private constructor(gateway: RunningGateway, receiver: Server, told: Told[]) {
    this.gateway = gateway;
    this.asked = globalThis.askedOfTasks ??= [];
    this.told = told;
    this.#receiver = receiver;
  }

  static async start(schedules: object = {}, more: Record<string, unknown> = {}): Promise<TasksGateway> {
    const told: Told[] = [];
    const receiver = createServer((incoming, answer) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
      incoming.on('end', () => {
        told.push(JSON.parse(body) as Told);
        answer.writeHead(204).end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const key = (user: string) => ({ tenant: 'acme', roles: ['user'], agents: ['desk', 'sales'], user });
    const gateway = await startGateway({
      tools: ['test/fixtures/tasks/tools.yaml'],
      roles: { user: ['tools:read', 'tools:call', 'web:use'], narrow: ['tools:read', 'tools:call'] },
      more: {
        ann: key('ann'),
        bob: key('bob'),
        any: { tenant: 'acme', roles: ['user'] },
        narrow: { tenant: 'acme', roles: ['narrow'] },
      },
      settings: {
        loaders: [
          { type: 'yaml-file', paths: [`${process.cwd()}/test/fixtures/tasks/tools.yaml`] },
          { type: 'pack', name: 'tasks' },
        ],
        executors: {
          schedules: { callback_url: `http://${host}/told`, tools: { email: 'send_email' }, ...schedules },
        },
        webhooks: {
          allow_hosts: [host],
          allow_private: ['127.0.0.0/8'],
          allow_ports: ['1-65535'],
          allow_http: true,
          secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
        },
        ...more,
      },
    });
    return new TasksGateway(gateway, receiver, told);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    this.#receiver.close();
    globalThis.askedOfTasks = undefined;
  }

  async call(who: RestTarget, tool: string, args: object = {}, context?: object): Promise<Envelope> {
    const body = { arguments: args, ...(context !== undefined && { context }) };
    return (await request<Envelope>(who, 'POST', `/v1/tools/${tool}/execute`, body)).body;
  }

  /** As if no gateway had run for a week, at which one of its moments is made up for. */
  async due(id: string): Promise<void> {
    const { db } = await this.gateway.service.infra.database.opened();
    await sql`UPDATE scheduled_tasks SET next_run = now() - interval '8 days' WHERE id = ${id}`.execute(db);
  }

  toldOf(id: string): Promise<Told> {
    return eventually(
      () => this.told.find(({ data }) => data.schedule_id === id) ?? false,
      `word of schedule ${id}`,
    );
  }

  async approve(admin: RestTarget, id: string): Promise<void> {
    await sendTo(admin, 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
  }
}
