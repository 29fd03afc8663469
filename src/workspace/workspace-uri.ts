/** The `workspace:` URI of a path under a workspace's workdir, or with an empty id under the root of the current one. */
export function workspaceUri(id: string, path?: string): string {
  const host = `workspace://${encodeURIComponent(id)}`
  return path === undefined ? host : `${host}/${path.split('/').map(encodeURIComponent).join('/')}`
}
