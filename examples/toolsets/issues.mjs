// An issue tracker of this process: it forgets all of it when the gateway stops.
const issues = [];

export function create({ project, title, state }) {
  issues.push({ project, title, state });
  return { project, title, state };
}

export function list({ project }) {
  return { issues: issues.filter((issue) => issue.project === project) };
}

export function remove({ project, title }) {
  const at = issues.findIndex((issue) => issue.project === project && issue.title === title);
  return { deleted: at >= 0 && issues.splice(at, 1).length === 1 };
}
