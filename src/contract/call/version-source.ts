// VersionSource: why a call runs the version of its tool that it runs.

/**
 * The first of these that there is: `call`, it names the version itself; `session`, the version that its session was declared with;
 * `user`, `agent` and `tenant`, what is assigned to them; `canary`, the tool on trial. None: the version in force.
 */
export const VERSION_SOURCES = ['call', 'session', 'user', 'agent', 'tenant', 'canary'] as const;
export type VersionSource = (typeof VERSION_SOURCES)[number];

/** Whose assignment it is. */
export type AssignedTo = 'user' | 'agent' | 'tenant';

export function isAssigned(source: VersionSource | undefined): source is AssignedTo {
  return source === 'user' || source === 'agent' || source === 'tenant';
}
