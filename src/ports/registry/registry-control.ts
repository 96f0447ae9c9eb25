// RegistryControl: the operator's side of the registry: reload, its status, and the kill switch.
import type { Problem } from '../../contract/tool/loaded-tools.ts';

export interface ReloadStatus {
  /** False: the last load was refused, and the set before it is still in force. */
  readonly ok: boolean;
  readonly registryVersion: string;
  readonly tools: number;
  /** ISO 8601. */
  readonly lastAttemptAt: string;
  readonly lastSuccessAt: string;
  readonly durationMs: number;
  /** What is wrong with what the loaders brought last. */
  readonly problems: readonly Problem[];
  /** What an operator should know of the set in force: a source that is away, for instance. */
  readonly warnings: readonly Problem[];
  /** What is wrong with tools that are not in force because of it, and keep no other from being so. */
  readonly leftOut: readonly Problem[];
  /** What model providers refuse of the tools in force, and are shown instead: the first of it. */
  readonly advice: readonly Problem[];
  /** How much more of it there is. */
  readonly moreAdvice: number;
}

export interface RegistryControl {
  status(): ReloadStatus;
  /** Loads everything again now and says how it went. Never throws. */
  reload(): Promise<ReloadStatus>;
  /** False: there is no such tool. */
  setDisabled(toolName: string, disabled: boolean): boolean;
}
