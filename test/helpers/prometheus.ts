// A real Prometheus on a free loopback port: it scrapes twice a second, keeps all in a temp dir, and is gone at the end.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePorts } from './free-port.ts';
import { eventually } from './eventually.ts';

export interface Alert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export class Prometheus {
  readonly #url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.#url = url;
    this.#child = child;
  }

  /**
   * `dir` is an empty folder; `rules` are files, or patterns of them; `targets` are metrics ports by the name that their series
   * have as `instance`, whether or not somebody listens there yet.
   */
  static async start(
    dir: string,
    rules: readonly string[],
    targets: Readonly<Record<string, number>>,
  ): Promise<Prometheus> {
    const [own = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${own}`;
    mkdirSync(join(dir, 'tsdb'), { recursive: true });
    const scrape = {
      job_name: 'ute',
      scrape_interval: '500ms',
      scrape_timeout: '500ms',
      static_configs: Object.entries(targets).map(([instance, port]) => ({
        targets: [`127.0.0.1:${port}`],
        labels: { instance },
      })),
    };
    const config = {
      global: { evaluation_interval: '1s' },
      rule_files: rules,
      scrape_configs: [scrape],
    };
    writeFileSync(join(dir, 'prometheus.yaml'), stringify(config));
    const args = [
      `--config.file=${join(dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(dir, 'tsdb')}`,
      `--web.listen-address=${new URL(url).host}`,
      '--enable-feature=exemplar-storage',
      '--log.level=error',
    ];
    const started = new Prometheus(url, spawn('prometheus', args, { stdio: 'ignore' }));
    await eventually(async () => (await fetch(`${url}/-/ready`)).ok, 'Prometheus');
    return started;
  }

  async targets(): Promise<readonly { readonly health: string; readonly lastError: string }[]> {
    const { activeTargets } = await this.#get<{ activeTargets: { health: string; lastError: string }[] }>(
      'targets',
    );
    return activeTargets;
  }

  /** Of an instant query. Throws Error for one that Prometheus does not take. */
  async query(expr: string): Promise<readonly Sample[]> {
    const { result } = await this.#get<{ result: Sample[] }>(`query?query=${encodeURIComponent(expr)}`);
    return result;
  }

  /** Alerts of this name that fire now. */
  async firing(name: string): Promise<readonly Alert[]> {
    const { alerts } = await this.#get<{ alerts: Alert[] }>('alerts');
    return alerts.filter(({ state, labels }) => state === 'firing' && labels['alertname'] === name);
  }

  async #get<Data>(path: string): Promise<Data> {
    const answer = await fetch(`${this.#url}/api/v1/${path}`);
    const body = (await answer.json()) as { status: string; error?: string; data: Data };
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`);
    return body.data;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill();
    await once(this.#child, 'exit');
  }
}
