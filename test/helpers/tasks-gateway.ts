// A gateway with the pack `tasks`, and tools for what tasks run: what was asked of them is noted.
import { sql } from 'kysely';
import { eventually } from './eventually.ts';
import { LoopbackServers } from './loopback-servers.ts';
import { request, sendTo, type Envelope, type RestTarget } from './rest-client.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';
import { receiveWebhooks } from './webhook-receiver.ts';

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
  readonly #servers: LoopbackServers;

  private constructor(gateway: RunningGateway, servers: LoopbackServers, told: Told[]) {
    this.gateway = gateway;
    this.asked = globalThis.askedOfTasks ??= [];
    this.told = told;
    this.#servers = servers;
  }

  static async start(schedules: object = {}, more: Record<string, unknown> = {}): Promise<TasksGateway> {
    const told: Told[] = [];
    const servers = new LoopbackServers();
    const host = await receiveWebhooks(servers, told);
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
    return new TasksGateway(gateway, servers, told);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.#servers.close();
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
