import { Socket } from 'node:net'

/** A socket on the writing end of a pipe, which it owns; destroyed once nobody reads any more. */
export function inputSocket(fd: number): Socket {
  const socket = new Socket({ fd, readable: false, writable: true })
  // a command may close its input at any time; writers see it by `destroyed`
  socket.on('error', () => socket.destroy())
  return socket
}
