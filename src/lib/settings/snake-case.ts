// Names in camelCase as the wire has them.

/** `agentId` is `agent_id`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
