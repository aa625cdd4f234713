/**
 * A room as a component of a react-three-fiber scene: joins, adds the object of `pliant-client/three` to the scene,
 * lets pointers grab its bodies, and leaves when it is unmounted.
 */
import { type ThreeElements, type ThreeEvent, useFrame } from "@react-three/fiber";
import { createElement, type ReactNode, useEffect, useRef, useState } from "react";
import { type PerspectiveCamera, Plane, Vector3 } from "three";
import { type Grab, type JoinOptions, joinRoom, type PliantError, type RoomEvents } from "./index.ts";
import { PliantRoom as RoomObject, type RoomIntersection } from "./three.ts";

/** Options of `joinRoom`, and the props of any object of a scene: `position`, `scale`, `ref` (to the object), ... */
export interface PliantRoomProps
  extends Omit<JoinOptions, "signal" | "WebSocket">,
    Omit<ThreeElements["primitive"], "object" | "name"> {
  /** URL of the room's page: http(s)://host[:port]/r/<room> */
  url: string;
  /** Pointers may grab bodies. Default: yes. */
  pull?: boolean;
  /** State of the connection: open, reconnecting, or ended with the reason. A failed join is `ended`, too. */
  onState?: (state: RoomEvents["state"]) => void;
  /** A grab was refused: the role, the connection or the number of grabs does not allow it. */
  onRefused?: (error: PliantError) => void;
}

export function PliantRoom(props: PliantRoomProps): ReactNode {
  const { url, name, color, token, password, scene, contacts, timeoutMs, pull = true, ...rest } = props;
  const { onState, onRefused, ...object3d } = rest;
  const [object, setObject] = useState<RoomObject>();
  const heard = useRef(onState);
  useEffect(() => void (heard.current = onState));
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const tell = (state: RoomEvents["state"]): void => void (signal.aborted || heard.current?.(state));
    let made: RoomObject | undefined;
    joinRoom(url, { name, color, token, password, scene, contacts, timeoutMs, signal }).then(
      (room) => {
        if (signal.aborted) return;
        made = new RoomObject(room);
        setObject(made);
        room.on("state", tell);
        tell({ state: "open" });
      },
      (error: PliantError) => tell({ state: "ended", error }),
    );
    return () => {
      stop.abort();
      setObject(undefined);
      made?.dispose();
    };
  }, [url, name, color, token, password, scene, contacts, timeoutMs]);
  useFrame(({ camera }) => object?.update(camera as PerspectiveCamera));
  const handlers = usePulling(object, onRefused);
  return object && createElement("primitive", { ...(pull && handlers), ...object3d, object });
}

/**
 * Each pointer that is pressed on a body pulls it, in the plane that faces the camera, until the pointer is released.
 */
function usePulling(object: RoomObject | undefined, onRefused: PliantRoomProps["onRefused"]) {
  const held = useRef(new Map<number, { hand: Grab; plane: Plane }>()).current;
  return {
    onPointerDown: (event: ThreeEvent<PointerEvent>): void => {
      const { pointerId, camera, point } = event;
      const { surface } = event as unknown as RoomIntersection;
      if (!object || held.has(pointerId)) return;
      event.stopPropagation();
      try {
        const hand = object.grab(surface);
        const plane = new Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new Vector3()), point);
        held.set(pointerId, { hand, plane });
        // Fires at the end of every press, including a cancelled one.
        const canvas = event.nativeEvent.target as HTMLElement;
        const lost = (end: PointerEvent): void => {
          if (end.pointerId !== pointerId) return;
          canvas.removeEventListener("lostpointercapture", lost);
          held.delete(pointerId);
          hand.release();
        };
        canvas.addEventListener("lostpointercapture", lost);
        (event.target as Element).setPointerCapture(pointerId);
      } catch (error) {
        onRefused?.(error as PliantError);
      }
    },
    onPointerMove: ({ pointerId, ray }: ThreeEvent<PointerEvent>): void => {
      const pulling = held.get(pointerId);
      const to = pulling?.hand.held && ray.intersectPlane(pulling.plane, new Vector3());
      if (to) object?.pull(pulling.hand, to);
    },
  };
}
