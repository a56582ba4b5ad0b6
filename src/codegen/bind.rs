//! Argument binding: the arguments of a launch wrapper as one tuple.
//!
//! A wrapper is one expression: memory is held, listed and passed on here. With a statement for each
//! argument in each wrapper, rustc took 1.4 to 2 times as long for a package of hundreds of kernels.

#[cfg(feature = "jit")]
use crate::argument::Kind;
use crate::{
    argument::{
        Argument, Held, HeldMap, LaunchStream, MAX_ARGUMENTS, ReadSlice, TensorMapArgument,
        WriteSlice,
    },
    copy::DeviceCopy,
    error::Result,
    hal::StreamRef,
    launch::Launch,
    loaded::Loaded,
};
use std::marker::PhantomData;

/// Arguments of a wrapper for which the list has no more places than these.
const FEWEST: usize = 4;
const FEW: usize = 16;

/// One argument, or a tuple of them.
pub trait Bind {
    /// What has to live during the launch.
    type Bound<'s>
    where
        Self: 's;

    /// How many arguments these are.
    const COUNT: usize;

    /// Nothing held yet.
    fn nothing<'s>() -> Self::Bound<'s>
    where
        Self: 's;

    /// Holds the memory.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) where it is not on the stream's device.
    fn bind<'s>(self, stream: &StreamRef<'s>, bound: &mut Self::Bound<'s>) -> Result<()>
    where
        Self: 's;

    /// Lists the arguments.
    fn list<'a>(bound: &'a Self::Bound<'_>, list: &mut List<'_, 'a>);
}

/// Arguments in the order of a signature.
pub struct List<'l, 'a> {
    places: &'l mut [Argument<'a>],
    len: usize,
}

impl<'a> List<'_, 'a> {
    fn push(&mut self, argument: Argument<'a>) {
        self.places[self.len] = argument;
        self.len += 1;
    }
}

/// Launches the kernel with index `signature` in the set.
///
/// # Errors
///
/// Those of [`launch`](crate::__codegen::launch), and of memory that cannot be held.
///
/// # Safety
///
/// As that of [`launch`](crate::__codegen::launch).
pub unsafe fn launch_with<'s, B: Bind + 's>(
    loaded: &'s Loaded,
    signature: usize,
    stream: &'s impl LaunchStream,
    launch: impl Into<Launch<3>>,
    arguments: B,
) -> Result<()> {
    let stream = stream.stream().for_launches_in(loaded.device().context());
    let mut bound = B::nothing();
    arguments.bind(&stream, &mut bound)?;
    let launch = launch.into();
    // SAFETY: as promised to this function.
    unsafe {
        if B::COUNT <= FEWEST {
            launch_listed::<B, FEWEST>(loaded, signature, &stream, &launch, &bound)
        } else if B::COUNT <= FEW {
            launch_listed::<B, FEW>(loaded, signature, &stream, &launch, &bound)
        } else {
            launch_listed::<B, MAX_ARGUMENTS>(loaded, signature, &stream, &launch, &bound)
        }
    }
}

/// Launches as [`launch_with`], after `check` has passed the arguments.
///
/// # Errors
///
/// Those of [`launch_with`], and of `check`.
///
/// # Safety
///
/// As that of [`launch_with`], for arguments that `check` passes.
#[cfg(feature = "jit")]
pub(crate) unsafe fn launch_checked<'s, B: Bind + 's>(
    loaded: &Loaded,
    signature: usize,
    stream: &'s impl LaunchStream,
    launch: impl Into<Launch<3>>,
    arguments: B,
    check: impl FnOnce(&mut dyn Iterator<Item = Kind>) -> Result<()>,
) -> Result<()> {
    let stream = stream.stream();
    let mut bound = B::nothing();
    arguments.bind(&stream, &mut bound)?;
    let mut places = [Argument::NOTHING; MAX_ARGUMENTS];
    let mut list = List { places: &mut places, len: 0 };
    B::list(&bound, &mut list);
    let len = list.len;
    check(&mut places[..len].iter().map(|argument| *argument.kind()))?;
    // SAFETY: as promised to this function.
    unsafe { loaded.launch(signature, &stream, &launch.into(), &places[..len]) }
}

/// # Safety
///
/// As that of [`launch_with`].
unsafe fn launch_listed<B: Bind, const N: usize>(
    loaded: &Loaded,
    signature: usize,
    stream: &StreamRef<'_>,
    launch: &Launch<3>,
    bound: &B::Bound<'_>,
) -> Result<()> {
    let mut places = [Argument::NOTHING; N];
    let mut list = List { places: &mut places, len: 0 };
    B::list(bound, &mut list);
    let len = list.len;
    // SAFETY: as promised to this function.
    unsafe { loaded.launch(signature, stream, launch, &places[..len]) }
}

/// A scalar or a struct, by value.
pub struct Value<T>(pub T);

/// Memory as its address and its length.
pub struct Slice<H>(H);

/// Memory as its address alone.
pub struct Pointer<H>(H);

/// A tensor and the tile of it that is copied.
pub struct Map<M>(M);

/// Memory that the kernel reads.
pub struct Read<T, S>(S, PhantomData<fn() -> T>);

/// Memory that the kernel writes.
pub struct Write<T, S>(S, PhantomData<fn() -> T>);

/// Memory that can be held for a launch.
pub trait Hold {
    /// What lies in it.
    type Element;

    /// Holds it.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) where it is not on the stream's device.
    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, Self::Element>) -> Result<()>
    where
        Self: 's;
}

/// A slice that the kernel reads.
pub fn read_slice<T: DeviceCopy, S: ReadSlice<T>>(memory: S) -> Slice<Read<T, S>> {
    Slice(Read(memory, PhantomData))
}

/// A slice that the kernel writes.
pub fn write_slice<T: DeviceCopy, S: WriteSlice<T>>(memory: S) -> Slice<Write<T, S>> {
    Slice(Write(memory, PhantomData))
}

/// A pointer through which the kernel reads.
pub fn read_pointer<T: DeviceCopy, S: ReadSlice<T>>(memory: S) -> Pointer<Read<T, S>> {
    Pointer(Read(memory, PhantomData))
}

/// A pointer through which the kernel writes.
pub fn write_pointer<T: DeviceCopy, S: WriteSlice<T>>(memory: S) -> Pointer<Write<T, S>> {
    Pointer(Write(memory, PhantomData))
}

/// A tensor of which the kernel copies tiles.
pub fn tensor_map<M: TensorMapArgument>(map: M) -> Map<M> {
    Map(map)
}

impl<T: DeviceCopy, S: ReadSlice<T>> Hold for Read<T, S> {
    type Element = T;

    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        self.0.hold(stream, held)
    }
}

impl<T: DeviceCopy, S: WriteSlice<T>> Hold for Write<T, S> {
    type Element = T;

    fn hold<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, T>) -> Result<()>
    where
        Self: 's,
    {
        self.0.hold(stream, held)
    }
}

impl<T: DeviceCopy> Bind for Value<T> {
    type Bound<'s>
        = Option<T>
    where
        Self: 's;
    const COUNT: usize = 1;

    fn nothing<'s>() -> Option<T>
    where
        Self: 's,
    {
        None
    }

    fn bind<'s>(self, _: &StreamRef<'s>, bound: &mut Option<T>) -> Result<()>
    where
        Self: 's,
    {
        *bound = Some(self.0);
        Ok(())
    }

    fn list<'a>(bound: &'a Option<T>, list: &mut List<'_, 'a>) {
        list.push(Argument::value(bound.as_ref().expect("it is bound")));
    }
}

impl<M: TensorMapArgument> Bind for Map<M> {
    type Bound<'s>
        = Option<HeldMap<'s, M::Element>>
    where
        Self: 's;
    const COUNT: usize = 1;

    fn nothing<'s>() -> Option<HeldMap<'s, M::Element>>
    where
        Self: 's,
    {
        None
    }

    fn bind<'s>(self, stream: &StreamRef<'s>, bound: &mut Self::Bound<'s>) -> Result<()>
    where
        Self: 's,
    {
        *bound = Some(self.0.hold(stream)?);
        Ok(())
    }

    fn list<'a>(bound: &'a Option<HeldMap<'_, M::Element>>, list: &mut List<'_, 'a>) {
        list.push(Argument::tensor_map(bound.as_ref().expect("it is bound")));
    }
}

macro_rules! bind_memory {
    ($($form:ident as $argument:ident),*) => {$(
        impl<H: Hold> Bind for $form<H> {
            type Bound<'s> = Held<'s, H::Element> where Self: 's;
            const COUNT: usize = 1;

            fn nothing<'s>() -> Held<'s, H::Element>
            where
                Self: 's,
            {
                Held::nothing()
            }

            fn bind<'s>(self, stream: &StreamRef<'s>, held: &mut Held<'s, H::Element>) -> Result<()>
            where
                Self: 's,
            {
                self.0.hold(stream, held)
            }

            fn list<'a>(bound: &'a Held<'_, H::Element>, list: &mut List<'_, 'a>) {
                list.push(Argument::$argument(bound));
            }
        }
    )*};
}

bind_memory!(Slice as slice, Pointer as pointer);

macro_rules! bind_tuples {
    ($(($($name:ident $index:tt),*))*) => {$(
        impl<$($name: Bind),*> Bind for ($($name,)*) {
            type Bound<'s> = ($($name::Bound<'s>,)*) where Self: 's;
            const COUNT: usize = 0 $(+ $name::COUNT)*;

            #[allow(clippy::unused_unit, reason = "of no arguments")]
            fn nothing<'s>() -> Self::Bound<'s>
            where
                Self: 's,
            {
                ($($name::nothing(),)*)
            }

            #[allow(unused_variables, reason = "of no arguments")]
            fn bind<'s>(self, stream: &StreamRef<'s>, bound: &mut Self::Bound<'s>) -> Result<()>
            where
                Self: 's,
            {
                $(self.$index.bind(stream, &mut bound.$index)?;)*
                Ok(())
            }

            #[allow(unused_variables, reason = "of no arguments")]
            fn list<'a>(bound: &'a Self::Bound<'_>, list: &mut List<'_, 'a>) {
                $($name::list(&bound.$index, list);)*
            }
        }
    )*};
}

bind_tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Error, marshal};

    /// The words that the arguments of a launch point at.
    fn words<'s, B: Bind + 's>(stream: &'s impl LaunchStream, arguments: B) -> Vec<u32> {
        let mut bound = B::nothing();
        arguments.bind(&stream.stream(), &mut bound).unwrap();
        let mut places = [Argument::NOTHING; MAX_ARGUMENTS];
        let mut list = List { places: &mut places, len: 0 };
        B::list(&bound, &mut list);
        assert_eq!(list.len, B::COUNT);
        // SAFETY: all that the tests bind has at least four bytes, which `bound` holds.
        let word = |pointer: &*const u8| unsafe { pointer.cast::<u32>().read_unaligned() };
        marshal::with_pointers(&places[..B::COUNT], |pointers| {
            pointers.as_slice().iter().map(word).collect()
        })
    }

    #[test]
    fn arguments_keep_their_order_through_tuples_in_tuples() {
        let stream = Device::cpu().unwrap().stream();
        assert!(words(&stream, ()).is_empty());
        let group = |first: u32| {
            let at = |offset: u32| Value(first + offset);
            (at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
        };
        let many = (group(0), group(8), (Value(16_u32), Value(17_u32)), Value(18_u32));
        assert_eq!(words(&stream, many), (0..19).collect::<Vec<_>>());
    }

    #[test]
    fn memory_is_an_address_or_an_address_and_a_length() {
        let device = Device::cpu().unwrap();
        let (stream, x) = (device.stream(), device.upload(&[1.0_f32, 2.0, 3.0]).unwrap());
        let mut y = device.zeros::<u8>(5).unwrap();
        let found = words(&stream, (read_slice(&x), write_pointer(&mut y), Value(7_u32)));
        // Behind the arguments the bytes of what is an address alone, for who asks.
        assert_eq!(found.len(), 5);
        assert_eq!((found[1], found[3], found[4]), (3, 7, 5));
        let mut none = device.zeros::<u8>(0).unwrap();
        let empty = words(&stream, (write_pointer(&mut none), write_slice(&mut y)));
        assert_eq!((empty[0], empty[2]), (0, 5), "no memory is null");
    }

    #[test]
    fn memory_that_another_launch_was_refused_can_be_used_again() {
        let device = Device::cpu().unwrap();
        let stream = device.stream();
        let mut x = device.zeros::<u32>(2).unwrap();
        let twice = bind(&stream, (write_slice(&mut x), Refused));
        assert!(matches!(twice, Err(Error::EmptyBlock { .. })));
        assert_eq!(words(&stream, (write_slice(&mut x),)).len(), 2);
    }

    fn bind<'s, B: Bind + 's>(stream: &'s impl LaunchStream, arguments: B) -> Result<()> {
        arguments.bind(&stream.stream(), &mut B::nothing())
    }

    /// An argument that cannot be bound.
    struct Refused;

    impl Bind for Refused {
        type Bound<'s> = ();
        const COUNT: usize = 1;

        fn nothing<'s>()
        where
            Self: 's,
        {
        }

        fn bind<'s>(self, _: &StreamRef<'s>, (): &mut ()) -> Result<()>
        where
            Self: 's,
        {
            Err(Error::EmptyBlock { kernel: String::new(), block: [0; 3] })
        }

        fn list<'a>((): &'a (), _: &mut List<'_, 'a>) {}
    }
}
