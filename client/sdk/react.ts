/**
 * A room as a component of a react-three-fiber scene: joins, adds the object of `pliant-client/three` to the scene,
 * lets pointers grab its bodies, and leaves when it is unmounted.
 */
import { type ThreeElements, type ThreeEvent, useFrame } from "@react-three/fiber";
import { createContext, createElement, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { Plane, Vector3 } from "three";
import { type Grab, type JoinOptions, joinRoom, type PliantError, type Room, type RoomEvents } from "./index.ts";
import { PliantRoom as RoomObject, type RoomIntersection, RoomLights } from "./three.ts";

type RoomStateOf = RoomEvents["state"] | { state: "joining" };
type Joining = Omit<JoinOptions, "signal" | "WebSocket" | "tokens">;

/** The room of the nearest `PliantRoom` or `RoomContext` above, for `useRoomContext`. */
export const RoomContext = createContext<Room | undefined>(undefined);
export const useRoomContext = (): Room | undefined => useContext(RoomContext);

/**
 * Joins a room, and leaves it when the component is unmounted. A changed option joins again.
 * @param url of the room's page; undefined: no room
 * @param onState listener of the state
 */
export function useRoom(
  url: string | undefined,
  options: Joining = {},
  onState?: (state: RoomEvents["state"]) => void,
): { room: Room | undefined; state: RoomStateOf } {
  const { name, color, token, password, scene, contacts, timeoutMs } = options;
  const [room, setRoom] = useState<Room>();
  const [state, setState] = useState<RoomStateOf>({ state: "joining" });
  const heard = useRef(onState);
  useEffect(() => void (heard.current = onState));
  useEffect(() => {
    if (url === undefined) return;
    const stop = new AbortController();
    const { signal } = stop;
    const tell = (next: RoomEvents["state"]): void => {
      if (signal.aborted) return;
      setState(next);
      heard.current?.(next);
    };
    joinRoom(url, { name, color, token, password, scene, contacts, timeoutMs, signal }).then(
      (joined) => {
        if (signal.aborted) return;
        setRoom(joined);
        joined.on("state", tell);
        tell({ state: "open" });
      },
      (error: PliantError) => tell({ state: "ended", error }),
    );
    return () => {
      stop.abort();
      setRoom(undefined);
      setState({ state: "joining" });
    };
  }, [url, name, color, token, password, scene, contacts, timeoutMs]);
  return { room, state };
}

/** Options of `joinRoom`, and the props of any object of a scene: `position`, `scale`, `ref` (to the object), ... */
export interface PliantRoomProps extends Joining, Omit<ThreeElements["primitive"], "object" | "name"> {
  /**
   * URL of the room's page, http(s)://host[:port]/r/<room>: the component joins it, and leaves when it is unmounted.
   */
  url?: string;
  /** A joined room, in place of `url`; the component does not leave it. Default: the room of `RoomContext`. */
  room?: Room;
  /** Adds a light rig. Default: no. */
  lights?: boolean;
  /** Pointers may grab bodies. Default: yes. */
  pull?: boolean;
  /** State of the connection: open, reconnecting, or ended with the reason. A failed join is `ended`, too. */
  onState?: (state: RoomEvents["state"]) => void;
  /** A grab was refused: the role, the connection or the number of grabs does not allow it. */
  onRefused?: (error: PliantError) => void;
  children?: ReactNode;
}

export function PliantRoom(props: PliantRoomProps): ReactNode {
  const { url, room: given, name, color, token, password, scene, contacts, timeoutMs, ...rest } = props;
  const { lights = false, pull = true, onState, onRefused, children, ...object3d } = rest;
  const { room: joined } = useRoom(url, { name, color, token, password, scene, contacts, timeoutMs }, onState);
  const around = useRoomContext();
  const room = joined ?? given ?? (url === undefined ? around : undefined);
  const [object, setObject] = useState<RoomObject>();
  useEffect(() => {
    if (!room) return;
    const made = new RoomObject(room);
    setObject(made);
    return () => {
      setObject(undefined);
      made.dispose();
    };
  }, [room]);
  const rig = useMemo(() => (lights ? new RoomLights() : undefined), [lights]);
  useFrame(({ camera }) => object?.update(camera));
  const handlers = usePulling(object, onRefused);
  return createElement(
    RoomContext,
    { value: room },
    rig && createElement("primitive", { object: rig }),
    object && createElement("primitive", { ...(pull && handlers), ...object3d, object }, children),
  );
}

/**
 * Each pointer that is pressed on a body pulls it, in the plane that faces the camera, until the pointer is released.
 */
function usePulling(object: RoomObject | undefined, onRefused: PliantRoomProps["onRefused"]) {
  const held = useRef(new Map<number, { grab: Grab; plane: Plane }>()).current;
  return {
    onPointerDown: (event: ThreeEvent<PointerEvent>): void => {
      const { pointerId, camera, point } = event;
      const { surface } = event as unknown as RoomIntersection;
      if (!object || held.has(pointerId)) return;
      event.stopPropagation();
      try {
        const grab = object.grab(surface);
        const plane = new Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new Vector3()), point);
        held.set(pointerId, { grab, plane });
        // Fires at the end of every press, including a cancelled one.
        const canvas = event.nativeEvent.target as HTMLElement;
        const lost = (end: PointerEvent): void => {
          if (end.pointerId !== pointerId) return;
          canvas.removeEventListener("lostpointercapture", lost);
          held.delete(pointerId);
          grab.release();
        };
        canvas.addEventListener("lostpointercapture", lost);
        (event.target as Element).setPointerCapture(pointerId);
      } catch (error) {
        onRefused?.(error as PliantError);
      }
    },
    onPointerMove: ({ pointerId, ray }: ThreeEvent<PointerEvent>): void => {
      const pulling = held.get(pointerId);
      const to = pulling?.grab.held && ray.intersectPlane(pulling.plane, new Vector3());
      if (to) object?.pull(pulling.grab, to);
    },
  };
}
