/** JSON-RPC messages as they travel; nothing in them is validated beyond this shape. */
export type RequestId = string | number
export interface JsonRpcRequest {
  jsonrpc: '2.0'
  id: RequestId
  method: string
  params?: Record<string, unknown>
}
export interface JsonRpcNotification {
  jsonrpc: '2.0'
  method: string
  params?: Record<string, unknown>
}
export interface JsonRpcAnswer {
  jsonrpc: '2.0'
  id: RequestId | null
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcAnswer
