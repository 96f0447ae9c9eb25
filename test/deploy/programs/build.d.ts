/** The folder of helm3, helm4, kubeconform, compose, dashboards and schemas; not there until build.js has run. */
export const PROGRAMS: string;
